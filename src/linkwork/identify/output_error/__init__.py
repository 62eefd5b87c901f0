"""Output error: fits by simulation, for parameters that joint forces are not linear in."""
