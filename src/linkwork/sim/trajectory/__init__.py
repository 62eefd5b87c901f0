"""What comes out: the trajectory, its outputs and diagnostics, its files, plots and summary."""
