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
