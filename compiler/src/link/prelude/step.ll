; The index of a round is below the end of its range. Linked where a loop counts its rounds and forgets the end.

define void @__gpukernel_is_below(i64 noundef %index, i64 noundef %end) #0 {
  %is.below = icmp ult i64 %index, %end
  call void @llvm.assume(i1 %is.below)
  ret void
}
