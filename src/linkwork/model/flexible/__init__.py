"""Links that bend: a beam from its material, or modes that a finite-element program has found."""
