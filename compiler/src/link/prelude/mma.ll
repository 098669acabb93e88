; Matrix multiplication by a warp (PTX ISA, "Warp-level Matrix Instructions"). Every lane gives its registers of A, B and C and gets
; its registers of A·B + C. Nothing here touches memory.

define [4 x i32] @__gpukernel_mma_f16_f32(
    i32 noundef %a0, i32 noundef %a1, i32 noundef %a2, i32 noundef %a3, i32 noundef %b0, i32 noundef %b1,
    float noundef %c0, float noundef %c1, float noundef %c2, float noundef %c3) #2 {
  %a0.half = bitcast i32 %a0 to <2 x half>
  %a1.half = bitcast i32 %a1 to <2 x half>
  %a2.half = bitcast i32 %a2 to <2 x half>
  %a3.half = bitcast i32 %a3 to <2 x half>
  %b0.half = bitcast i32 %b0 to <2 x half>
  %b1.half = bitcast i32 %b1 to <2 x half>
  %d = call { float, float, float, float } @llvm.nvvm.mma.m16n8k16.row.col.f32.f32(
      <2 x half> %a0.half, <2 x half> %a1.half, <2 x half> %a2.half, <2 x half> %a3.half, <2 x half> %b0.half, <2 x half> %b1.half,
      float %c0, float %c1, float %c2, float %c3)
  %d0 = extractvalue { float, float, float, float } %d, 0
  %d0.bits = bitcast float %d0 to i32
  %r0 = insertvalue [4 x i32] poison, i32 %d0.bits, 0
  %d1 = extractvalue { float, float, float, float } %d, 1
  %d1.bits = bitcast float %d1 to i32
  %r1 = insertvalue [4 x i32] %r0, i32 %d1.bits, 1
  %d2 = extractvalue { float, float, float, float } %d, 2
  %d2.bits = bitcast float %d2 to i32
  %r2 = insertvalue [4 x i32] %r1, i32 %d2.bits, 2
  %d3 = extractvalue { float, float, float, float } %d, 3
  %d3.bits = bitcast float %d3 to i32
  %r3 = insertvalue [4 x i32] %r2, i32 %d3.bits, 3
  ret [4 x i32] %r3
}

define [2 x i32] @__gpukernel_mma_f16_f16(
    i32 noundef %a0, i32 noundef %a1, i32 noundef %a2, i32 noundef %a3, i32 noundef %b0, i32 noundef %b1,
    i32 noundef %c0, i32 noundef %c1) #2 {
  %a0.half = bitcast i32 %a0 to <2 x half>
  %a1.half = bitcast i32 %a1 to <2 x half>
  %a2.half = bitcast i32 %a2 to <2 x half>
  %a3.half = bitcast i32 %a3 to <2 x half>
  %b0.half = bitcast i32 %b0 to <2 x half>
  %b1.half = bitcast i32 %b1 to <2 x half>
  %c0.half = bitcast i32 %c0 to <2 x half>
  %c1.half = bitcast i32 %c1 to <2 x half>
  %d = call { <2 x half>, <2 x half> } @llvm.nvvm.mma.m16n8k16.row.col.f16.f16(
      <2 x half> %a0.half, <2 x half> %a1.half, <2 x half> %a2.half, <2 x half> %a3.half, <2 x half> %b0.half, <2 x half> %b1.half,
      <2 x half> %c0.half, <2 x half> %c1.half)
  %d0 = extractvalue { <2 x half>, <2 x half> } %d, 0
  %d0.bits = bitcast <2 x half> %d0 to i32
  %r0 = insertvalue [2 x i32] poison, i32 %d0.bits, 0
  %d1 = extractvalue { <2 x half>, <2 x half> } %d, 1
  %d1.bits = bitcast <2 x half> %d1 to i32
  %r1 = insertvalue [2 x i32] %r0, i32 %d1.bits, 1
  ret [2 x i32] %r1
}

define [4 x i32] @__gpukernel_mma_bf16_f32(
    i32 noundef %a0, i32 noundef %a1, i32 noundef %a2, i32 noundef %a3, i32 noundef %b0, i32 noundef %b1,
    float noundef %c0, float noundef %c1, float noundef %c2, float noundef %c3) #2 {
  %d = call { float, float, float, float } @llvm.nvvm.mma.m16n8k16.row.col.bf16(
      i32 %a0, i32 %a1, i32 %a2, i32 %a3, i32 %b0, i32 %b1,
      float %c0, float %c1, float %c2, float %c3)
  %d0 = extractvalue { float, float, float, float } %d, 0
  %d0.bits = bitcast float %d0 to i32
  %r0 = insertvalue [4 x i32] poison, i32 %d0.bits, 0
  %d1 = extractvalue { float, float, float, float } %d, 1
  %d1.bits = bitcast float %d1 to i32
  %r1 = insertvalue [4 x i32] %r0, i32 %d1.bits, 1
  %d2 = extractvalue { float, float, float, float } %d, 2
  %d2.bits = bitcast float %d2 to i32
  %r2 = insertvalue [4 x i32] %r1, i32 %d2.bits, 2
  %d3 = extractvalue { float, float, float, float } %d, 3
  %d3.bits = bitcast float %d3 to i32
  %r3 = insertvalue [4 x i32] %r2, i32 %d3.bits, 3
  ret [4 x i32] %r3
}

define [4 x i32] @__gpukernel_mma_tf32_f32(
    i32 noundef %a0, i32 noundef %a1, i32 noundef %a2, i32 noundef %a3, i32 noundef %b0, i32 noundef %b1,
    float noundef %c0, float noundef %c1, float noundef %c2, float noundef %c3) #2 {
  %d = call { float, float, float, float } @llvm.nvvm.mma.m16n8k8.row.col.tf32(
      i32 %a0, i32 %a1, i32 %a2, i32 %a3, i32 %b0, i32 %b1,
      float %c0, float %c1, float %c2, float %c3)
  %d0 = extractvalue { float, float, float, float } %d, 0
  %d0.bits = bitcast float %d0 to i32
  %r0 = insertvalue [4 x i32] poison, i32 %d0.bits, 0
  %d1 = extractvalue { float, float, float, float } %d, 1
  %d1.bits = bitcast float %d1 to i32
  %r1 = insertvalue [4 x i32] %r0, i32 %d1.bits, 1
  %d2 = extractvalue { float, float, float, float } %d, 2
  %d2.bits = bitcast float %d2 to i32
  %r2 = insertvalue [4 x i32] %r1, i32 %d2.bits, 2
  %d3 = extractvalue { float, float, float, float } %d, 3
  %d3.bits = bitcast float %d3 to i32
  %r3 = insertvalue [4 x i32] %r2, i32 %d3.bits, 3
  ret [4 x i32] %r3
}

define [4 x i32] @__gpukernel_mma_i8_i8_i32(
    i32 noundef %a0, i32 noundef %a1, i32 noundef %a2, i32 noundef %a3, i32 noundef %b0, i32 noundef %b1,
    i32 noundef %c0, i32 noundef %c1, i32 noundef %c2, i32 noundef %c3) #2 {
  %d = call { i32, i32, i32, i32 } @llvm.nvvm.mma.m16n8k32.row.col.s8(
      i32 %a0, i32 %a1, i32 %a2, i32 %a3, i32 %b0, i32 %b1,
      i32 %c0, i32 %c1, i32 %c2, i32 %c3)
  %d0 = extractvalue { i32, i32, i32, i32 } %d, 0
  %r0 = insertvalue [4 x i32] poison, i32 %d0, 0
  %d1 = extractvalue { i32, i32, i32, i32 } %d, 1
  %r1 = insertvalue [4 x i32] %r0, i32 %d1, 1
  %d2 = extractvalue { i32, i32, i32, i32 } %d, 2
  %r2 = insertvalue [4 x i32] %r1, i32 %d2, 2
  %d3 = extractvalue { i32, i32, i32, i32 } %d, 3
  %r3 = insertvalue [4 x i32] %r2, i32 %d3, 3
  ret [4 x i32] %r3
}

define [4 x i32] @__gpukernel_mma_u8_u8_i32(
    i32 noundef %a0, i32 noundef %a1, i32 noundef %a2, i32 noundef %a3, i32 noundef %b0, i32 noundef %b1,
    i32 noundef %c0, i32 noundef %c1, i32 noundef %c2, i32 noundef %c3) #2 {
  %d = call { i32, i32, i32, i32 } @llvm.nvvm.mma.m16n8k32.row.col.u8(
      i32 %a0, i32 %a1, i32 %a2, i32 %a3, i32 %b0, i32 %b1,
      i32 %c0, i32 %c1, i32 %c2, i32 %c3)
  %d0 = extractvalue { i32, i32, i32, i32 } %d, 0
  %r0 = insertvalue [4 x i32] poison, i32 %d0, 0
  %d1 = extractvalue { i32, i32, i32, i32 } %d, 1
  %r1 = insertvalue [4 x i32] %r0, i32 %d1, 1
  %d2 = extractvalue { i32, i32, i32, i32 } %d, 2
  %r2 = insertvalue [4 x i32] %r1, i32 %d2, 2
  %d3 = extractvalue { i32, i32, i32, i32 } %d, 3
  %r3 = insertvalue [4 x i32] %r2, i32 %d3, 3
  ret [4 x i32] %r3
}

define [4 x i32] @__gpukernel_mma_i8_u8_i32(
    i32 noundef %a0, i32 noundef %a1, i32 noundef %a2, i32 noundef %a3, i32 noundef %b0, i32 noundef %b1,
    i32 noundef %c0, i32 noundef %c1, i32 noundef %c2, i32 noundef %c3) #2 {
  %d = call { i32, i32, i32, i32 } @llvm.nvvm.mma.m16n8k32.row.col.s8.u8(
      i32 %a0, i32 %a1, i32 %a2, i32 %a3, i32 %b0, i32 %b1,
      i32 %c0, i32 %c1, i32 %c2, i32 %c3)
  %d0 = extractvalue { i32, i32, i32, i32 } %d, 0
  %r0 = insertvalue [4 x i32] poison, i32 %d0, 0
  %d1 = extractvalue { i32, i32, i32, i32 } %d, 1
  %r1 = insertvalue [4 x i32] %r0, i32 %d1, 1
  %d2 = extractvalue { i32, i32, i32, i32 } %d, 2
  %r2 = insertvalue [4 x i32] %r1, i32 %d2, 2
  %d3 = extractvalue { i32, i32, i32, i32 } %d, 3
  %r3 = insertvalue [4 x i32] %r2, i32 %d3, 3
  ret [4 x i32] %r3
}

define [4 x i32] @__gpukernel_mma_u8_i8_i32(
    i32 noundef %a0, i32 noundef %a1, i32 noundef %a2, i32 noundef %a3, i32 noundef %b0, i32 noundef %b1,
    i32 noundef %c0, i32 noundef %c1, i32 noundef %c2, i32 noundef %c3) #2 {
  %d = call { i32, i32, i32, i32 } @llvm.nvvm.mma.m16n8k32.row.col.u8.s8(
      i32 %a0, i32 %a1, i32 %a2, i32 %a3, i32 %b0, i32 %b1,
      i32 %c0, i32 %c1, i32 %c2, i32 %c3)
  %d0 = extractvalue { i32, i32, i32, i32 } %d, 0
  %r0 = insertvalue [4 x i32] poison, i32 %d0, 0
  %d1 = extractvalue { i32, i32, i32, i32 } %d, 1
  %r1 = insertvalue [4 x i32] %r0, i32 %d1, 1
  %d2 = extractvalue { i32, i32, i32, i32 } %d, 2
  %r2 = insertvalue [4 x i32] %r1, i32 %d2, 2
  %d3 = extractvalue { i32, i32, i32, i32 } %d, 3
  %r3 = insertvalue [4 x i32] %r2, i32 %d3, 3
  ret [4 x i32] %r3
}

define [2 x i64] @__gpukernel_mma_f64_f64(double noundef %a, double noundef %b, double noundef %c0, double noundef %c1) #2 {
  %d = call { double, double } @llvm.nvvm.mma.m8n8k4.row.col.f64(double %a, double %b, double %c0, double %c1)
  %d0 = extractvalue { double, double } %d, 0
  %d1 = extractvalue { double, double } %d, 1
  %d0.bits = bitcast double %d0 to i64
  %d1.bits = bitcast double %d1 to i64
  %r0 = insertvalue [2 x i64] poison, i64 %d0.bits, 0
  %r1 = insertvalue [2 x i64] %r0, i64 %d1.bits, 1
  ret [2 x i64] %r1
}

; The nearest number of 10 bits behind the leading one, away from zero if two are as near.
define noundef i32 @__gpukernel_tf32(float noundef %value) #3 {
  %result = call i32 @llvm.nvvm.f2tf32.rna(float %value)
  ret i32 %result
}

; Parts of 8 rows of 16 bytes, in shared memory, to the registers of a fragment: each lane gives the address of one row. They
; read what other lanes point to, so they may read any memory.

define [2 x i32] @__gpukernel_load_matrices_x2(ptr noundef %row) #4 {
  %shared = addrspacecast ptr %row to ptr addrspace(3)
  %d = call { i32, i32 } @llvm.nvvm.ldmatrix.sync.aligned.m8n8.x2.b16.p3(ptr addrspace(3) %shared)
  %d0 = extractvalue { i32, i32 } %d, 0
  %r0 = insertvalue [2 x i32] poison, i32 %d0, 0
  %d1 = extractvalue { i32, i32 } %d, 1
  %r1 = insertvalue [2 x i32] %r0, i32 %d1, 1
  ret [2 x i32] %r1
}

define [4 x i32] @__gpukernel_load_matrices_x4(ptr noundef %row) #4 {
  %shared = addrspacecast ptr %row to ptr addrspace(3)
  %d = call { i32, i32, i32, i32 } @llvm.nvvm.ldmatrix.sync.aligned.m8n8.x4.b16.p3(ptr addrspace(3) %shared)
  %d0 = extractvalue { i32, i32, i32, i32 } %d, 0
  %r0 = insertvalue [4 x i32] poison, i32 %d0, 0
  %d1 = extractvalue { i32, i32, i32, i32 } %d, 1
  %r1 = insertvalue [4 x i32] %r0, i32 %d1, 1
  %d2 = extractvalue { i32, i32, i32, i32 } %d, 2
  %r2 = insertvalue [4 x i32] %r1, i32 %d2, 2
  %d3 = extractvalue { i32, i32, i32, i32 } %d, 3
  %r3 = insertvalue [4 x i32] %r2, i32 %d3, 3
  ret [4 x i32] %r3
}

define [2 x i32] @__gpukernel_load_matrices_x2_transposed(ptr noundef %row) #4 {
  %shared = addrspacecast ptr %row to ptr addrspace(3)
  %d = call { i32, i32 } @llvm.nvvm.ldmatrix.sync.aligned.m8n8.x2.trans.b16.p3(ptr addrspace(3) %shared)
  %d0 = extractvalue { i32, i32 } %d, 0
  %r0 = insertvalue [2 x i32] poison, i32 %d0, 0
  %d1 = extractvalue { i32, i32 } %d, 1
  %r1 = insertvalue [2 x i32] %r0, i32 %d1, 1
  ret [2 x i32] %r1
}

define [4 x i32] @__gpukernel_load_matrices_x4_transposed(ptr noundef %row) #4 {
  %shared = addrspacecast ptr %row to ptr addrspace(3)
  %d = call { i32, i32, i32, i32 } @llvm.nvvm.ldmatrix.sync.aligned.m8n8.x4.trans.b16.p3(ptr addrspace(3) %shared)
  %d0 = extractvalue { i32, i32, i32, i32 } %d, 0
  %r0 = insertvalue [4 x i32] poison, i32 %d0, 0
  %d1 = extractvalue { i32, i32, i32, i32 } %d, 1
  %r1 = insertvalue [4 x i32] %r0, i32 %d1, 1
  %d2 = extractvalue { i32, i32, i32, i32 } %d, 2
  %r2 = insertvalue [4 x i32] %r1, i32 %d2, 2
  %d3 = extractvalue { i32, i32, i32, i32 } %d, 3
  %r3 = insertvalue [4 x i32] %r2, i32 %d3, 3
  ret [4 x i32] %r3
}

attributes #2 = { noinline convergent nounwind willreturn memory(none) "gpukernel-needs"="sm_80" }
attributes #3 = { noinline nounwind willreturn memory(none) "gpukernel-needs"="sm_80" }
attributes #4 = { alwaysinline convergent nounwind willreturn memory(read) }
