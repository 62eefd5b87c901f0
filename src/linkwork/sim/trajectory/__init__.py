"""Trajectories: their outputs, diagnostics, files, plots and summary."""
