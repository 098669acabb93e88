; Reductions over the lanes of a warp that a mask names, in one instruction (PTX ISA, `redux.sync`: sm_80).

define noundef i32 @__gpukernel_redux_add_u32(i32 noundef %mask, i32 noundef %value) #2 {
  %result = call i32 @llvm.nvvm.redux.sync.add(i32 %value, i32 %mask)
  ret i32 %result
}

define noundef i32 @__gpukernel_redux_min_u32(i32 noundef %mask, i32 noundef %value) #2 {
  %result = call i32 @llvm.nvvm.redux.sync.umin(i32 %value, i32 %mask)
  ret i32 %result
}

define noundef i32 @__gpukernel_redux_max_u32(i32 noundef %mask, i32 noundef %value) #2 {
  %result = call i32 @llvm.nvvm.redux.sync.umax(i32 %value, i32 %mask)
  ret i32 %result
}

define noundef i32 @__gpukernel_redux_min_i32(i32 noundef %mask, i32 noundef %value) #2 {
  %result = call i32 @llvm.nvvm.redux.sync.min(i32 %value, i32 %mask)
  ret i32 %result
}

define noundef i32 @__gpukernel_redux_max_i32(i32 noundef %mask, i32 noundef %value) #2 {
  %result = call i32 @llvm.nvvm.redux.sync.max(i32 %value, i32 %mask)
  ret i32 %result
}

define noundef i32 @__gpukernel_redux_and_u32(i32 noundef %mask, i32 noundef %value) #2 {
  %result = call i32 @llvm.nvvm.redux.sync.and(i32 %value, i32 %mask)
  ret i32 %result
}

define noundef i32 @__gpukernel_redux_or_u32(i32 noundef %mask, i32 noundef %value) #2 {
  %result = call i32 @llvm.nvvm.redux.sync.or(i32 %value, i32 %mask)
  ret i32 %result
}

define noundef i32 @__gpukernel_redux_xor_u32(i32 noundef %mask, i32 noundef %value) #2 {
  %result = call i32 @llvm.nvvm.redux.sync.xor(i32 %value, i32 %mask)
  ret i32 %result
}

attributes #2 = { noinline convergent nounwind "gpukernel-needs"="sm_80" }
