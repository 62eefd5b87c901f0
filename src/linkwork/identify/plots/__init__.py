"""Fits as pages and pictures."""
