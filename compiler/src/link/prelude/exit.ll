; The end of a thread, and of a kernel (PTX ISA, `exit`, `trap`).

define void @__gpukernel_exit() #2 {
  call void @llvm.nvvm.exit()
  unreachable
}

define void @__gpukernel_trap() #2 {
  call void @llvm.trap()
  unreachable
}

attributes #2 = { alwaysinline convergent noreturn nounwind }
