; Arithmetic of f16 and bf16, which travel as integers. LLVM has instructions for those architectures that do and computes in f32
; for the others; the results are the same.

define noundef float @__gpukernel_f16_to_f32(i16 noundef %x) #0 {
  %typed = bitcast i16 %x to half
  %value = fpext half %typed to float
  ret float %value
}

define noundef i16 @__gpukernel_f32_to_f16(float noundef %x) #0 {
  %value = fptrunc float %x to half
  %bits = bitcast half %value to i16
  ret i16 %bits
}

define noundef float @__gpukernel_bf16_to_f32(i16 noundef %x) #0 {
  %typed = bitcast i16 %x to bfloat
  %value = fpext bfloat %typed to float
  ret float %value
}

define noundef i16 @__gpukernel_f32_to_bf16(float noundef %x) #0 {
  %value = fptrunc float %x to bfloat
  %bits = bitcast bfloat %value to i16
  ret i16 %bits
}

define noundef i16 @__gpukernel_add_f16(i16 noundef %x, i16 noundef %y) #0 {
  %a = bitcast i16 %x to half
  %b = bitcast i16 %y to half
  %value = fadd half %a, %b
  %bits = bitcast half %value to i16
  ret i16 %bits
}

define noundef i16 @__gpukernel_sub_f16(i16 noundef %x, i16 noundef %y) #0 {
  %a = bitcast i16 %x to half
  %b = bitcast i16 %y to half
  %value = fsub half %a, %b
  %bits = bitcast half %value to i16
  ret i16 %bits
}

define noundef i16 @__gpukernel_mul_f16(i16 noundef %x, i16 noundef %y) #0 {
  %a = bitcast i16 %x to half
  %b = bitcast i16 %y to half
  %value = fmul half %a, %b
  %bits = bitcast half %value to i16
  ret i16 %bits
}

define noundef i16 @__gpukernel_div_f16(i16 noundef %x, i16 noundef %y) #0 {
  %a = bitcast i16 %x to half
  %b = bitcast i16 %y to half
  %value = fdiv half %a, %b
  %bits = bitcast half %value to i16
  ret i16 %bits
}

define noundef i16 @__gpukernel_mul_add_f16(i16 noundef %x, i16 noundef %y, i16 noundef %z) #0 {
  %a = bitcast i16 %x to half
  %b = bitcast i16 %y to half
  %c = bitcast i16 %z to half
  %value = call half @llvm.fma.f16(half %a, half %b, half %c)
  %bits = bitcast half %value to i16
  ret i16 %bits
}

define noundef i16 @__gpukernel_add_bf16(i16 noundef %x, i16 noundef %y) #0 {
  %a = bitcast i16 %x to bfloat
  %b = bitcast i16 %y to bfloat
  %value = fadd bfloat %a, %b
  %bits = bitcast bfloat %value to i16
  ret i16 %bits
}

define noundef i16 @__gpukernel_sub_bf16(i16 noundef %x, i16 noundef %y) #0 {
  %a = bitcast i16 %x to bfloat
  %b = bitcast i16 %y to bfloat
  %value = fsub bfloat %a, %b
  %bits = bitcast bfloat %value to i16
  ret i16 %bits
}

define noundef i16 @__gpukernel_mul_bf16(i16 noundef %x, i16 noundef %y) #0 {
  %a = bitcast i16 %x to bfloat
  %b = bitcast i16 %y to bfloat
  %value = fmul bfloat %a, %b
  %bits = bitcast bfloat %value to i16
  ret i16 %bits
}

define noundef i16 @__gpukernel_div_bf16(i16 noundef %x, i16 noundef %y) #0 {
  %a = bitcast i16 %x to bfloat
  %b = bitcast i16 %y to bfloat
  %value = fdiv bfloat %a, %b
  %bits = bitcast bfloat %value to i16
  ret i16 %bits
}

define noundef i16 @__gpukernel_mul_add_bf16(i16 noundef %x, i16 noundef %y, i16 noundef %z) #2 {
  %a = bitcast i16 %x to bfloat
  %b = bitcast i16 %y to bfloat
  %c = bitcast i16 %z to bfloat
  %value = call bfloat @llvm.fma.bf16(bfloat %a, bfloat %b, bfloat %c)
  %bits = bitcast bfloat %value to i16
  ret i16 %bits
}

define noundef i32 @__gpukernel_add_f16x2(i32 noundef %x, i32 noundef %y) #0 {
  %a = bitcast i32 %x to <2 x half>
  %b = bitcast i32 %y to <2 x half>
  %value = fadd <2 x half> %a, %b
  %bits = bitcast <2 x half> %value to i32
  ret i32 %bits
}

define noundef i32 @__gpukernel_sub_f16x2(i32 noundef %x, i32 noundef %y) #0 {
  %a = bitcast i32 %x to <2 x half>
  %b = bitcast i32 %y to <2 x half>
  %value = fsub <2 x half> %a, %b
  %bits = bitcast <2 x half> %value to i32
  ret i32 %bits
}

define noundef i32 @__gpukernel_mul_f16x2(i32 noundef %x, i32 noundef %y) #0 {
  %a = bitcast i32 %x to <2 x half>
  %b = bitcast i32 %y to <2 x half>
  %value = fmul <2 x half> %a, %b
  %bits = bitcast <2 x half> %value to i32
  ret i32 %bits
}

define noundef i32 @__gpukernel_mul_add_f16x2(i32 noundef %x, i32 noundef %y, i32 noundef %z) #0 {
  %a = bitcast i32 %x to <2 x half>
  %b = bitcast i32 %y to <2 x half>
  %c = bitcast i32 %z to <2 x half>
  %value = call <2 x half> @llvm.fma.v2f16(<2 x half> %a, <2 x half> %b, <2 x half> %c)
  %bits = bitcast <2 x half> %value to i32
  ret i32 %bits
}

define noundef i32 @__gpukernel_add_bf16x2(i32 noundef %x, i32 noundef %y) #0 {
  %a = bitcast i32 %x to <2 x bfloat>
  %b = bitcast i32 %y to <2 x bfloat>
  %value = fadd <2 x bfloat> %a, %b
  %bits = bitcast <2 x bfloat> %value to i32
  ret i32 %bits
}

define noundef i32 @__gpukernel_sub_bf16x2(i32 noundef %x, i32 noundef %y) #0 {
  %a = bitcast i32 %x to <2 x bfloat>
  %b = bitcast i32 %y to <2 x bfloat>
  %value = fsub <2 x bfloat> %a, %b
  %bits = bitcast <2 x bfloat> %value to i32
  ret i32 %bits
}

define noundef i32 @__gpukernel_mul_bf16x2(i32 noundef %x, i32 noundef %y) #0 {
  %a = bitcast i32 %x to <2 x bfloat>
  %b = bitcast i32 %y to <2 x bfloat>
  %value = fmul <2 x bfloat> %a, %b
  %bits = bitcast <2 x bfloat> %value to i32
  ret i32 %bits
}

define noundef i32 @__gpukernel_mul_add_bf16x2(i32 noundef %x, i32 noundef %y, i32 noundef %z) #2 {
  %a = bitcast i32 %x to <2 x bfloat>
  %b = bitcast i32 %y to <2 x bfloat>
  %c = bitcast i32 %z to <2 x bfloat>
  %value = call <2 x bfloat> @llvm.fma.v2bf16(<2 x bfloat> %a, <2 x bfloat> %b, <2 x bfloat> %c)
  %bits = bitcast <2 x bfloat> %value to i32
  ret i32 %bits
}

; From sm_80 on; LLVM would round twice below.
attributes #2 = { noinline nounwind willreturn memory(none) "gpukernel-needs"="sm_80" }
