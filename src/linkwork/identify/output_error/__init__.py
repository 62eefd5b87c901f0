"""Fits by simulation: what a motion tells that no regressor sees."""
