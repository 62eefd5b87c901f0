"""Symbols: what constants, variables and their entries are called (``names``); robots whose constants are inputs of a
graph (``robots``) or, at joint positions zero, polynomials that know their values (``geometry``, ``polynomials``).
"""
