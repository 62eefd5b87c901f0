"""Convex problems: least squares over physically consistent bodies."""
