"""Programs as source text: C, NumPy, CasADi."""
