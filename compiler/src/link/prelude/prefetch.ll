; Memory is brought to the L2 cache (PTX ISA, `prefetch`). The address is a generic one, so that one of shared memory does nothing.

define void @__gpukernel_prefetch_l2(ptr noundef %address) #0 {
  call void asm sideeffect "prefetch.L2 [$0];", "l"(ptr %address)
  ret void
}
