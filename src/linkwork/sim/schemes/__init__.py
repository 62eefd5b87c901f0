"""How it is stepped: integrators, their stability, and the runner of the compiled time loop."""
