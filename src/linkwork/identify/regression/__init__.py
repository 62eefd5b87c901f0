"""Regression: equations of recordings that are linear in the parameters, and methods of least squares."""
