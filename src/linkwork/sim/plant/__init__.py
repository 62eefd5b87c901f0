"""What is simulated: a robot with what acts on it, as programs of its state."""
