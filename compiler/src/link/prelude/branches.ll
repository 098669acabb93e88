; What the optimiser is told of functions and branches.

; The functions which call it are inlined into kernels, as `whole_rows` sees to.

define void @__gpukernel_inline_callers() #0 {
  ret void
}

; Nothing that can be computed before it is known whether it should be: what is beside it stays behind its branch.
define void @__gpukernel_stay_behind() #0 {
  call void asm sideeffect "", ""()
  ret void
}
