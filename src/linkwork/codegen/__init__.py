"""Back ends: programs and time loops as machine code (LLVM IR, object code, NumPy ufuncs), or interpreted."""
