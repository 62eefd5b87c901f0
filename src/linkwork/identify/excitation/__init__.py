"""Motions from which parameters can be told."""
