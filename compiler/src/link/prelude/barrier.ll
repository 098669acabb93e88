; The barrier of a block. It orders all memory accesses of the block's threads, as `__syncthreads` does, so nothing here
; says which memory it touches: the optimiser moves no access across it.
define void @__gpukernel_barrier() #1 {
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  ret void
}

; The same, and at once a question to the threads: how many say yes, whether all do, whether any does.
define noundef i32 @__gpukernel_barrier_count(i32 noundef %vote) #1 {
  %yes = icmp ne i32 %vote, 0
  %count = call i32 @llvm.nvvm.barrier.cta.red.popc.aligned.all(i32 0, i1 %yes)
  ret i32 %count
}

define noundef i32 @__gpukernel_barrier_all(i32 noundef %vote) #1 {
  %yes = icmp ne i32 %vote, 0
  %all = call i1 @llvm.nvvm.barrier.cta.red.and.aligned.all(i32 0, i1 %yes)
  %wide = zext i1 %all to i32
  ret i32 %wide
}

define noundef i32 @__gpukernel_barrier_any(i32 noundef %vote) #1 {
  %yes = icmp ne i32 %vote, 0
  %any = call i1 @llvm.nvvm.barrier.cta.red.or.aligned.all(i32 0, i1 %yes)
  %wide = zext i1 %any to i32
  ret i32 %wide
}
