"""Programs as machine code: LLVM IR, object code, NumPy generalised ufuncs."""
