; Functions of floating-point numbers that are one instruction, correctly rounded.

define noundef float @__gpukernel_floor_f32(float noundef %x) #0 {
  %value = call float @llvm.floor.f32(float %x)
  ret float %value
}

define noundef float @__gpukernel_ceil_f32(float noundef %x) #0 {
  %value = call float @llvm.ceil.f32(float %x)
  ret float %value
}

define noundef float @__gpukernel_trunc_f32(float noundef %x) #0 {
  %value = call float @llvm.trunc.f32(float %x)
  ret float %value
}

define noundef float @__gpukernel_round_ties_even_f32(float noundef %x) #0 {
  %value = call float @llvm.roundeven.f32(float %x)
  ret float %value
}

define noundef float @__gpukernel_sqrt_f32(float noundef %x) #0 {
  %value = call float @llvm.sqrt.f32(float %x)
  ret float %value
}

define noundef float @__gpukernel_mul_add_f32(float noundef %x, float noundef %a, float noundef %b) #0 {
  %value = call float @llvm.fma.f32(float %x, float %a, float %b)
  ret float %value
}

define noundef double @__gpukernel_floor_f64(double noundef %x) #0 {
  %value = call double @llvm.floor.f64(double %x)
  ret double %value
}

define noundef double @__gpukernel_ceil_f64(double noundef %x) #0 {
  %value = call double @llvm.ceil.f64(double %x)
  ret double %value
}

define noundef double @__gpukernel_trunc_f64(double noundef %x) #0 {
  %value = call double @llvm.trunc.f64(double %x)
  ret double %value
}

define noundef double @__gpukernel_round_ties_even_f64(double noundef %x) #0 {
  %value = call double @llvm.roundeven.f64(double %x)
  ret double %value
}

define noundef double @__gpukernel_sqrt_f64(double noundef %x) #0 {
  %value = call double @llvm.sqrt.f64(double %x)
  ret double %value
}

define noundef double @__gpukernel_mul_add_f64(double noundef %x, double noundef %a, double noundef %b) #0 {
  %value = call double @llvm.fma.f64(double %x, double %a, double %b)
  ret double %value
}

; Approximations. LLVM has no intrinsic for a reciprocal that keeps subnormal numbers.

define noundef float @__gpukernel_fast_exp2(float noundef %x) #0 {
  %value = call float @llvm.nvvm.ex2.approx.f(float %x)
  ret float %value
}

define noundef float @__gpukernel_fast_sqrt(float noundef %x) #0 {
  %value = call float @llvm.nvvm.sqrt.approx.f(float %x)
  ret float %value
}

define noundef float @__gpukernel_fast_recip(float noundef %x) #0 {
  %value = call float asm "rcp.approx.f32 $0, $1;", "=f,f"(float %x)
  ret float %value
}

define noundef float @__gpukernel_fast_tanh(float noundef %x) #2 {
  %value = call float asm "tanh.approx.f32 $0, $1;", "=f,f"(float %x)
  ret float %value
}

attributes #2 = { noinline nounwind willreturn memory(none) "gpukernel-needs"="sm_80" }
