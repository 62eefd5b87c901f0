"""Flexible links: a beam from its material, or modes of a finite-element program."""
