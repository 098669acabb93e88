; Copies from global to shared memory that the thread does not wait for (PTX ISA, "Data Movement and Conversion Instructions:
; cp.async"). 16 bytes bypass the L1 cache; smaller ones cannot. The thread's groups complete in the order of their commits.

define void @__gpukernel_async_copy_16(ptr noundef %to, ptr noundef %from) #2 {
  %shared = addrspacecast ptr %to to ptr addrspace(3)
  %global = addrspacecast ptr %from to ptr addrspace(1)
  call void @llvm.nvvm.cp.async.cg.shared.global.16(ptr addrspace(3) %shared, ptr addrspace(1) %global)
  ret void
}

define void @__gpukernel_async_copy_8(ptr noundef %to, ptr noundef %from) #2 {
  %shared = addrspacecast ptr %to to ptr addrspace(3)
  %global = addrspacecast ptr %from to ptr addrspace(1)
  call void @llvm.nvvm.cp.async.ca.shared.global.8(ptr addrspace(3) %shared, ptr addrspace(1) %global)
  ret void
}

define void @__gpukernel_async_copy_4(ptr noundef %to, ptr noundef %from) #2 {
  %shared = addrspacecast ptr %to to ptr addrspace(3)
  %global = addrspacecast ptr %from to ptr addrspace(1)
  call void @llvm.nvvm.cp.async.ca.shared.global.4(ptr addrspace(3) %shared, ptr addrspace(1) %global)
  ret void
}

; What follows may touch any memory, as far as the optimiser is concerned: reads of what was copied stay behind it.

define void @__gpukernel_async_copy_commit() #3 {
  call void @llvm.nvvm.cp.async.commit.group()
  ret void
}

define void @__gpukernel_async_copy_wait_0() #3 {
  call void @llvm.nvvm.cp.async.wait.group(i32 0)
  ret void
}

define void @__gpukernel_async_copy_wait_1() #3 {
  call void @llvm.nvvm.cp.async.wait.group(i32 1)
  ret void
}

define void @__gpukernel_async_copy_wait_2() #3 {
  call void @llvm.nvvm.cp.async.wait.group(i32 2)
  ret void
}

define void @__gpukernel_async_copy_wait_3() #3 {
  call void @llvm.nvvm.cp.async.wait.group(i32 3)
  ret void
}

define void @__gpukernel_async_copy_wait_all() #3 {
  call void @llvm.nvvm.cp.async.wait.all()
  ret void
}

; Whether a generic address is one of global memory, from which alone such copies can be made.
define noundef zeroext i1 @__gpukernel_is_global(ptr noundef %address) #4 {
  %result = call i1 @llvm.nvvm.isspacep.global(ptr %address)
  ret i1 %result
}

attributes #2 = { noinline nounwind willreturn memory(argmem: readwrite) "gpukernel-needs"="sm_80" }
attributes #3 = { noinline nounwind willreturn "gpukernel-needs"="sm_80" }
attributes #4 = { alwaysinline nounwind willreturn memory(none) }
