; The barrier of a block. It orders all memory accesses of the block's threads, as `__syncthreads` does, so nothing here
; says which memory it touches: the optimiser moves no access across it.
define void @__gpukernel_barrier() #1 {
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  ret void
}
