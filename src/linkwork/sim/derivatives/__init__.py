"""Derivatives through time: gradients, forward sensitivities and the Jacobian of a step."""
