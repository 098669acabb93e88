; A value that the optimiser does not know to be another: a copy, which ptxas drops. No intrinsic of LLVM lasts until emission.

define noundef i32 @__gpukernel_opaque_u32(i32 noundef %value) #0 {
  %copy = call i32 asm "mov.b32 $0, $1;", "=r,r"(i32 %value)
  ret i32 %copy
}

define noundef i64 @__gpukernel_opaque_u64(i64 noundef %value) #0 {
  %copy = call i64 asm "mov.b64 $0, $1;", "=l,l"(i64 %value)
  ret i64 %copy
}
