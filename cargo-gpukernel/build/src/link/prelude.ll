; The device operations that Rust cannot express, each a small function that is inlined into kernels.
;
; gpu-std declares them as `extern "C"`; the linker parses this file (LLVM 22 syntax), links it to the kernel crate and
; inlines it before it attaches the value ranges of launch contracts. Whatever must not move under divergent control flow
; is `convergent`.

target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

; Places and extents (PTX ISA, "Special Registers"): every component on its own, so that those not used vanish.

define noundef i32 @__gpukernel_thread_index_x() #0 {
  %value = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  ret i32 %value
}

define noundef i32 @__gpukernel_thread_index_y() #0 {
  %value = call i32 @llvm.nvvm.read.ptx.sreg.tid.y()
  ret i32 %value
}

define noundef i32 @__gpukernel_thread_index_z() #0 {
  %value = call i32 @llvm.nvvm.read.ptx.sreg.tid.z()
  ret i32 %value
}

define noundef i32 @__gpukernel_block_index_x() #0 {
  %value = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  ret i32 %value
}

define noundef i32 @__gpukernel_block_index_y() #0 {
  %value = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.y()
  ret i32 %value
}

define noundef i32 @__gpukernel_block_index_z() #0 {
  %value = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.z()
  ret i32 %value
}

define noundef i32 @__gpukernel_block_dim_x() #0 {
  %value = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  ret i32 %value
}

define noundef i32 @__gpukernel_block_dim_y() #0 {
  %value = call i32 @llvm.nvvm.read.ptx.sreg.ntid.y()
  ret i32 %value
}

define noundef i32 @__gpukernel_block_dim_z() #0 {
  %value = call i32 @llvm.nvvm.read.ptx.sreg.ntid.z()
  ret i32 %value
}

define noundef i32 @__gpukernel_grid_dim_x() #0 {
  %value = call i32 @llvm.nvvm.read.ptx.sreg.nctaid.x()
  ret i32 %value
}

define noundef i32 @__gpukernel_grid_dim_y() #0 {
  %value = call i32 @llvm.nvvm.read.ptx.sreg.nctaid.y()
  ret i32 %value
}

define noundef i32 @__gpukernel_grid_dim_z() #0 {
  %value = call i32 @llvm.nvvm.read.ptx.sreg.nctaid.z()
  ret i32 %value
}

declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.tid.y()
declare i32 @llvm.nvvm.read.ptx.sreg.tid.z()
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.y()
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.z()
declare i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ntid.y()
declare i32 @llvm.nvvm.read.ptx.sreg.ntid.z()
declare i32 @llvm.nvvm.read.ptx.sreg.nctaid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.nctaid.y()
declare i32 @llvm.nvvm.read.ptx.sreg.nctaid.z()

; The barrier of a block. It orders all memory accesses of the block's threads, as `__syncthreads` does, so nothing here
; says which memory it touches: the optimiser moves no access across it.
define void @__gpukernel_barrier() #1 {
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  ret void
}

declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)

; The address of a shared array. rustc calls it so that it learns nothing from the missing initial value.
define noundef ptr @__gpukernel_shared(ptr noundef returned %storage) #0 {
  ret ptr %storage
}

; Atomics: relaxed, for the device (PTX ISA, `atom`, `ld.relaxed`, `st.relaxed`, scope `.gpu`).

define noundef i32 @__gpukernel_atomic_load_u32(ptr noundef %at) #0 {
  %value = load atomic i32, ptr %at syncscope("device") monotonic, align 4
  ret i32 %value
}

define void @__gpukernel_atomic_store_u32(ptr noundef %at, i32 noundef %value) #0 {
  store atomic i32 %value, ptr %at syncscope("device") monotonic, align 4
  ret void
}

define noundef i32 @__gpukernel_atomic_swap_u32(ptr noundef %at, i32 noundef %value) #0 {
  %before = atomicrmw xchg ptr %at, i32 %value syncscope("device") monotonic, align 4
  ret i32 %before
}

define noundef i32 @__gpukernel_atomic_add_u32(ptr noundef %at, i32 noundef %value) #0 {
  %before = atomicrmw add ptr %at, i32 %value syncscope("device") monotonic, align 4
  ret i32 %before
}

define noundef i32 @__gpukernel_atomic_load_i32(ptr noundef %at) #0 {
  %value = load atomic i32, ptr %at syncscope("device") monotonic, align 4
  ret i32 %value
}

define void @__gpukernel_atomic_store_i32(ptr noundef %at, i32 noundef %value) #0 {
  store atomic i32 %value, ptr %at syncscope("device") monotonic, align 4
  ret void
}

define noundef i32 @__gpukernel_atomic_swap_i32(ptr noundef %at, i32 noundef %value) #0 {
  %before = atomicrmw xchg ptr %at, i32 %value syncscope("device") monotonic, align 4
  ret i32 %before
}

define noundef i32 @__gpukernel_atomic_add_i32(ptr noundef %at, i32 noundef %value) #0 {
  %before = atomicrmw add ptr %at, i32 %value syncscope("device") monotonic, align 4
  ret i32 %before
}

define noundef i64 @__gpukernel_atomic_load_u64(ptr noundef %at) #0 {
  %value = load atomic i64, ptr %at syncscope("device") monotonic, align 8
  ret i64 %value
}

define void @__gpukernel_atomic_store_u64(ptr noundef %at, i64 noundef %value) #0 {
  store atomic i64 %value, ptr %at syncscope("device") monotonic, align 8
  ret void
}

define noundef i64 @__gpukernel_atomic_swap_u64(ptr noundef %at, i64 noundef %value) #0 {
  %before = atomicrmw xchg ptr %at, i64 %value syncscope("device") monotonic, align 8
  ret i64 %before
}

define noundef i64 @__gpukernel_atomic_add_u64(ptr noundef %at, i64 noundef %value) #0 {
  %before = atomicrmw add ptr %at, i64 %value syncscope("device") monotonic, align 8
  ret i64 %before
}

define noundef i64 @__gpukernel_atomic_load_i64(ptr noundef %at) #0 {
  %value = load atomic i64, ptr %at syncscope("device") monotonic, align 8
  ret i64 %value
}

define void @__gpukernel_atomic_store_i64(ptr noundef %at, i64 noundef %value) #0 {
  store atomic i64 %value, ptr %at syncscope("device") monotonic, align 8
  ret void
}

define noundef i64 @__gpukernel_atomic_swap_i64(ptr noundef %at, i64 noundef %value) #0 {
  %before = atomicrmw xchg ptr %at, i64 %value syncscope("device") monotonic, align 8
  ret i64 %before
}

define noundef i64 @__gpukernel_atomic_add_i64(ptr noundef %at, i64 noundef %value) #0 {
  %before = atomicrmw add ptr %at, i64 %value syncscope("device") monotonic, align 8
  ret i64 %before
}

define noundef float @__gpukernel_atomic_load_f32(ptr noundef %at) #0 {
  %value = load atomic float, ptr %at syncscope("device") monotonic, align 4
  ret float %value
}

define void @__gpukernel_atomic_store_f32(ptr noundef %at, float noundef %value) #0 {
  store atomic float %value, ptr %at syncscope("device") monotonic, align 4
  ret void
}

define noundef float @__gpukernel_atomic_swap_f32(ptr noundef %at, float noundef %value) #0 {
  %before = atomicrmw xchg ptr %at, float %value syncscope("device") monotonic, align 4
  ret float %before
}

define noundef float @__gpukernel_atomic_add_f32(ptr noundef %at, float noundef %value) #0 {
  %before = atomicrmw fadd ptr %at, float %value syncscope("device") monotonic, align 4
  ret float %before
}

define noundef double @__gpukernel_atomic_load_f64(ptr noundef %at) #0 {
  %value = load atomic double, ptr %at syncscope("device") monotonic, align 8
  ret double %value
}

define void @__gpukernel_atomic_store_f64(ptr noundef %at, double noundef %value) #0 {
  store atomic double %value, ptr %at syncscope("device") monotonic, align 8
  ret void
}

define noundef double @__gpukernel_atomic_swap_f64(ptr noundef %at, double noundef %value) #0 {
  %before = atomicrmw xchg ptr %at, double %value syncscope("device") monotonic, align 8
  ret double %before
}

define noundef double @__gpukernel_atomic_add_f64(ptr noundef %at, double noundef %value) #0 {
  %before = atomicrmw fadd ptr %at, double %value syncscope("device") monotonic, align 8
  ret double %before
}

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

declare float @llvm.floor.f32(float)
declare float @llvm.ceil.f32(float)
declare float @llvm.trunc.f32(float)
declare float @llvm.roundeven.f32(float)
declare float @llvm.sqrt.f32(float)
declare float @llvm.fma.f32(float, float, float)
declare double @llvm.floor.f64(double)
declare double @llvm.ceil.f64(double)
declare double @llvm.trunc.f64(double)
declare double @llvm.roundeven.f64(double)
declare double @llvm.sqrt.f64(double)
declare double @llvm.fma.f64(double, double, double)

attributes #0 = { alwaysinline nounwind willreturn }
attributes #1 = { alwaysinline convergent nounwind }
