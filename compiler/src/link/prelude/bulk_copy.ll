; Copies of many bytes at once by the copy engine of an SM, which completes them on a barrier in shared memory (PTX ISA, "Data Movement
; and Conversion Instructions: cp.async.bulk" and "Parallel Synchronization: mbarrier"). LLVM's
; intrinsics for it ask for newer versions of PTX than the instructions do, so most are written out.

; A barrier that completes a phase with one arrival and all bytes it expects.
define void @__gpukernel_bulk_barrier(ptr noundef %barrier) #2 {
  %shared = addrspacecast ptr %barrier to ptr addrspace(3)
  call void @llvm.nvvm.mbarrier.init.shared(ptr addrspace(3) %shared, i32 1)
  ret void
}

; Starts a phase that completes with this many bytes. What this thread knows to have been done to memory by ordinary loads and stores,
; the barrier's own start included, comes before the copies of the phase: those to shared memory, and those to the source. One fence
; for all of memory would also wait until the whole GPU sees them (MEMBAR.ALL.GPU).
define void @__gpukernel_bulk_expect(ptr noundef %barrier, i32 noundef %bytes) #2 {
  %phase = addrspacecast ptr %barrier to ptr addrspace(3)
  call void asm sideeffect "fence.proxy.async.shared::cta;", "~{memory}"()
  call void asm sideeffect "fence.proxy.async.global;", "~{memory}"()
  call void asm sideeffect "mbarrier.arrive.expect_tx.shared::cta.b64 _, [$0], $1;", "l,r,~{memory}"(ptr addrspace(3) %phase, i32 %bytes)
  ret void
}

; Starts to copy some of the bytes that the phase expects.
define void @__gpukernel_bulk_copy(ptr noundef %to, ptr noundef %from, i32 noundef %bytes, ptr noundef %barrier) #2 {
  %shared = addrspacecast ptr %to to ptr addrspace(3)
  %global = addrspacecast ptr %from to ptr addrspace(1)
  %phase = addrspacecast ptr %barrier to ptr addrspace(3)
  call void asm sideeffect "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [$0], [$1], $2, [$3];", "l,l,r,l,~{memory}"(ptr addrspace(3) %shared, ptr addrspace(1) %global, i32 %bytes, ptr addrspace(3) %phase)
  ret void
}

; Whether the phase of this parity is complete; the hardware waits for a while before it says no.
define noundef zeroext i1 @__gpukernel_bulk_is_complete(ptr noundef %barrier, i32 noundef %parity) #2 {
  %phase = addrspacecast ptr %barrier to ptr addrspace(3)
  %result = call i32 asm sideeffect "{ .reg .pred complete; mbarrier.try_wait.parity.shared::cta.b64 complete, [$1], $2; selp.u32 $0, 1, 0, complete; }", "=r,l,r,~{memory}"(ptr addrspace(3) %phase, i32 %parity)
  %complete = icmp ne i32 %result, 0
  ret i1 %complete
}

attributes #2 = { noinline nounwind "gpukernel-needs"="sm_90" }
