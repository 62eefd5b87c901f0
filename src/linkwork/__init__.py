"""linkwork: a compiler for the dynamics of robots."""
