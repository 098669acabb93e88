; The index of a round is below the end of its range. Linked where a loop counts its rounds and forgets the end.

define void @__gpukernel_is_below_i64(i64 noundef %index, i64 noundef %end) #0 {
  %is.below = icmp ult i64 %index, %end
  call void @llvm.assume(i1 %is.below)
  ret void
}

define void @__gpukernel_is_below_i32(i32 noundef %index, i32 noundef %end) #0 {
  %is.below = icmp ult i32 %index, %end
  call void @llvm.assume(i1 %is.below)
  ret void
}
