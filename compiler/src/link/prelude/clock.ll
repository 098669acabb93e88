; Time, as a multiprocessor counts it (PTX ISA, "Special Registers", `nanosleep`). Reads have side effects, so that they stay in
; their order and are not merged.

define noundef i32 @__gpukernel_clock() #1 {
  %value = call i32 @llvm.nvvm.read.ptx.sreg.clock()
  ret i32 %value
}

define noundef i64 @__gpukernel_clock64() #1 {
  %value = call i64 @llvm.nvvm.read.ptx.sreg.clock64()
  ret i64 %value
}

define noundef i64 @__gpukernel_global_timer() #1 {
  %value = call i64 @llvm.nvvm.read.ptx.sreg.globaltimer()
  ret i64 %value
}

define void @__gpukernel_nanosleep(i32 noundef %nanoseconds) #1 {
  call void @llvm.nvvm.nanosleep(i32 %nanoseconds)
  ret void
}
