"""Integrators, their stability, and the runner of the compiled time loop."""
