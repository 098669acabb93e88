; A generic address that is one of global memory. Linked when the optimiser is done, which would drop the assumption.

define noundef ptr @__gpukernel_global_address(ptr noundef %address) #0 {
  %is.global = call i1 @llvm.nvvm.isspacep.global(ptr %address)
  call void @llvm.assume(i1 %is.global)
  ret ptr %address
}

; The same, of memory that nobody writes during a launch.

define noundef ptr @__gpukernel_read_only_address(ptr noundef %address) #0 {
  %is.global = call i1 @llvm.nvvm.isspacep.global(ptr %address)
  call void @llvm.assume(i1 %is.global)
  ret ptr %address
}
