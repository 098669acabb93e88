; Integer operations that are one instruction and that LLVM does not recognise in other code.

define noundef i32 @__gpukernel_byte_perm(i32 noundef %low, i32 noundef %high, i32 noundef %selector) #0 {
  %value = call i32 @llvm.nvvm.prmt(i32 %low, i32 %high, i32 %selector)
  ret i32 %value
}

define noundef i32 @__gpukernel_sad_u32(i32 noundef %a, i32 noundef %b, i32 noundef %sum) #0 {
  %value = call i32 @llvm.nvvm.sad.ui(i32 %a, i32 %b, i32 %sum)
  ret i32 %value
}

define noundef i32 @__gpukernel_sad_i32(i32 noundef %a, i32 noundef %b, i32 noundef %sum) #0 {
  %value = call i32 @llvm.nvvm.sad.i(i32 %a, i32 %b, i32 %sum)
  ret i32 %value
}

define noundef i32 @__gpukernel_funnel_left(i32 noundef %low, i32 noundef %high, i32 noundef %n) #0 {
  %value = call i32 @llvm.fshl.i32(i32 %high, i32 %low, i32 %n)
  ret i32 %value
}

define noundef i32 @__gpukernel_funnel_left_clamped(i32 noundef %low, i32 noundef %high, i32 noundef %n) #0 {
  %value = call i32 asm "shf.l.clamp.b32 $0, $1, $2, $3;", "=r,r,r,r"(i32 %low, i32 %high, i32 %n)
  ret i32 %value
}

define noundef i32 @__gpukernel_funnel_right(i32 noundef %low, i32 noundef %high, i32 noundef %n) #0 {
  %value = call i32 @llvm.fshr.i32(i32 %high, i32 %low, i32 %n)
  ret i32 %value
}

define noundef i32 @__gpukernel_funnel_right_clamped(i32 noundef %low, i32 noundef %high, i32 noundef %n) #0 {
  %value = call i32 asm "shf.r.clamp.b32 $0, $1, $2, $3;", "=r,r,r,r"(i32 %low, i32 %high, i32 %n)
  ret i32 %value
}

define noundef i32 @__gpukernel_dp4a_i32(i32 noundef %a, i32 noundef %b, i32 noundef %sum) #0 {
  %value = call i32 @llvm.nvvm.idp4a.s.s(i32 %a, i32 %b, i32 %sum)
  ret i32 %value
}

define noundef i32 @__gpukernel_dp4a_u32(i32 noundef %a, i32 noundef %b, i32 noundef %sum) #0 {
  %value = call i32 @llvm.nvvm.idp4a.u.u(i32 %a, i32 %b, i32 %sum)
  ret i32 %value
}

define noundef i32 @__gpukernel_dp2a_low_i32(i32 noundef %a, i32 noundef %b, i32 noundef %sum) #0 {
  %value = call i32 @llvm.nvvm.idp2a.s.s(i32 %a, i32 %b, i1 false, i32 %sum)
  ret i32 %value
}

define noundef i32 @__gpukernel_dp2a_high_i32(i32 noundef %a, i32 noundef %b, i32 noundef %sum) #0 {
  %value = call i32 @llvm.nvvm.idp2a.s.s(i32 %a, i32 %b, i1 true, i32 %sum)
  ret i32 %value
}

define noundef i32 @__gpukernel_dp2a_low_u32(i32 noundef %a, i32 noundef %b, i32 noundef %sum) #0 {
  %value = call i32 @llvm.nvvm.idp2a.u.u(i32 %a, i32 %b, i1 false, i32 %sum)
  ret i32 %value
}

define noundef i32 @__gpukernel_dp2a_high_u32(i32 noundef %a, i32 noundef %b, i32 noundef %sum) #0 {
  %value = call i32 @llvm.nvvm.idp2a.u.u(i32 %a, i32 %b, i1 true, i32 %sum)
  ret i32 %value
}
