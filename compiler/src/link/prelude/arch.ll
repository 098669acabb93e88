; The architecture that code is emitted for, as a number: 90 for sm_90. It gets its value at emission, where the branches
; that it decides fall away.

@gpukernel.arch = external constant i32

define noundef i32 @__gpukernel_arch() #0 {
  %value = load i32, ptr @gpukernel.arch, !invariant.load !0
  ret i32 %value
}

!0 = !{}
