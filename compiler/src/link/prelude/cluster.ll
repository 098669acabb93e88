; Clusters of blocks (PTX ISA, "Special Registers: %cluster_…", "barrier.cluster" and "mapa"). A block that was launched without is a
; cluster of its own.

define noundef i32 @__gpukernel_cluster_dim_x() #2 {
  %value = call i32 @llvm.nvvm.read.ptx.sreg.cluster.nctaid.x()
  ret i32 %value
}

define noundef i32 @__gpukernel_cluster_dim_y() #2 {
  %value = call i32 @llvm.nvvm.read.ptx.sreg.cluster.nctaid.y()
  ret i32 %value
}

define noundef i32 @__gpukernel_cluster_dim_z() #2 {
  %value = call i32 @llvm.nvvm.read.ptx.sreg.cluster.nctaid.z()
  ret i32 %value
}

define noundef i32 @__gpukernel_cluster_block_index_x() #2 {
  %value = call i32 @llvm.nvvm.read.ptx.sreg.cluster.ctaid.x()
  ret i32 %value
}

define noundef i32 @__gpukernel_cluster_block_index_y() #2 {
  %value = call i32 @llvm.nvvm.read.ptx.sreg.cluster.ctaid.y()
  ret i32 %value
}

define noundef i32 @__gpukernel_cluster_block_index_z() #2 {
  %value = call i32 @llvm.nvvm.read.ptx.sreg.cluster.ctaid.z()
  ret i32 %value
}

define noundef i32 @__gpukernel_cluster_block_rank() #2 {
  %value = call i32 @llvm.nvvm.read.ptx.sreg.cluster.ctarank()
  ret i32 %value
}

define noundef i32 @__gpukernel_cluster_blocks() #2 {
  %value = call i32 @llvm.nvvm.read.ptx.sreg.cluster.nctarank()
  ret i32 %value
}

; The barrier of all threads of the cluster. It orders all their memory accesses: arriving releases, waiting acquires.
define void @__gpukernel_cluster_barrier() #3 {
  call void @llvm.nvvm.barrier.cluster.arrive.aligned()
  call void @llvm.nvvm.barrier.cluster.wait.aligned()
  ret void
}

; The address in the block of this rank that is what the address is in the calling thread's.
define noundef ptr @__gpukernel_cluster_map(ptr noundef %address, i32 noundef %rank) #2 {
  %own = addrspacecast ptr %address to ptr addrspace(3)
  %there = call ptr addrspace(7) @llvm.nvvm.mapa.shared.cluster(ptr addrspace(3) %own, i32 %rank)
  %result = addrspacecast ptr addrspace(7) %there to ptr
  ret ptr %result
}

attributes #2 = { noinline nounwind willreturn memory(none) "gpukernel-needs"="sm_90" }
attributes #3 = { noinline convergent nounwind "gpukernel-needs"="sm_90" }
