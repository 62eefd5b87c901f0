"""Notation of printed equations.

``names`` has the names of constants, variables and their entries. ``robots`` makes robots whose constants are inputs of
a graph, and ``geometry`` robots at joint positions zero whose constants are polynomials with values (``polynomials``).
"""
