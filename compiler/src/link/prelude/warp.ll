; Lanes of a warp (PTX ISA, "Parallel Synchronization and Communication Instructions"). All are convergent: who takes part is
; said by a mask, and moved into a branch they would wait for lanes that do not come.

define noundef i32 @__gpukernel_lane_index() #0 {
  %value = call i32 @llvm.nvvm.read.ptx.sreg.laneid()
  ret i32 %value
}

define noundef i32 @__gpukernel_active_lanes() #1 {
  %value = call i32 @llvm.nvvm.activemask()
  ret i32 %value
}

define noundef i32 @__gpukernel_lanes_eq() #0 {
  %value = call i32 @llvm.nvvm.read.ptx.sreg.lanemask.eq()
  ret i32 %value
}

define noundef i32 @__gpukernel_lanes_lt() #0 {
  %value = call i32 @llvm.nvvm.read.ptx.sreg.lanemask.lt()
  ret i32 %value
}

define noundef i32 @__gpukernel_lanes_le() #0 {
  %value = call i32 @llvm.nvvm.read.ptx.sreg.lanemask.le()
  ret i32 %value
}

define noundef i32 @__gpukernel_lanes_gt() #0 {
  %value = call i32 @llvm.nvvm.read.ptx.sreg.lanemask.gt()
  ret i32 %value
}

define noundef i32 @__gpukernel_lanes_ge() #0 {
  %value = call i32 @llvm.nvvm.read.ptx.sreg.lanemask.ge()
  ret i32 %value
}

; Orders the memory accesses of the lanes too, so nothing here says which memory it touches.
define void @__gpukernel_warp_sync(i32 noundef %lanes) #1 {
  call void @llvm.nvvm.bar.warp.sync(i32 %lanes)
  ret void
}

; Shuffles. Those called `_in_range` return a second word above the value: 1 if the value is that of the lane asked for, 0 if
; there is none within the segment and it is the lane's own.

define noundef i32 @__gpukernel_shuffle_index(i32 noundef %lanes, i32 noundef %value, i32 noundef %by, i32 noundef %control) #1 {
  %result = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 %lanes, i32 %value, i32 %by, i32 %control)
  ret i32 %result
}

define noundef i64 @__gpukernel_shuffle_index_in_range(i32 noundef %lanes, i32 noundef %value, i32 noundef %by, i32 noundef %control) #1 {
  %result = call { i32, i1 } @llvm.nvvm.shfl.sync.idx.i32p(i32 %lanes, i32 %value, i32 %by, i32 %control)
  %low = extractvalue { i32, i1 } %result, 0
  %in.range = extractvalue { i32, i1 } %result, 1
  %low.wide = zext i32 %low to i64
  %in.range.wide = zext i1 %in.range to i64
  %high = shl i64 %in.range.wide, 32
  %both = or disjoint i64 %high, %low.wide
  ret i64 %both
}

define noundef i32 @__gpukernel_shuffle_up(i32 noundef %lanes, i32 noundef %value, i32 noundef %by, i32 noundef %control) #1 {
  %result = call i32 @llvm.nvvm.shfl.sync.up.i32(i32 %lanes, i32 %value, i32 %by, i32 %control)
  ret i32 %result
}

define noundef i64 @__gpukernel_shuffle_up_in_range(i32 noundef %lanes, i32 noundef %value, i32 noundef %by, i32 noundef %control) #1 {
  %result = call { i32, i1 } @llvm.nvvm.shfl.sync.up.i32p(i32 %lanes, i32 %value, i32 %by, i32 %control)
  %low = extractvalue { i32, i1 } %result, 0
  %in.range = extractvalue { i32, i1 } %result, 1
  %low.wide = zext i32 %low to i64
  %in.range.wide = zext i1 %in.range to i64
  %high = shl i64 %in.range.wide, 32
  %both = or disjoint i64 %high, %low.wide
  ret i64 %both
}

define noundef i32 @__gpukernel_shuffle_down(i32 noundef %lanes, i32 noundef %value, i32 noundef %by, i32 noundef %control) #1 {
  %result = call i32 @llvm.nvvm.shfl.sync.down.i32(i32 %lanes, i32 %value, i32 %by, i32 %control)
  ret i32 %result
}

define noundef i64 @__gpukernel_shuffle_down_in_range(i32 noundef %lanes, i32 noundef %value, i32 noundef %by, i32 noundef %control) #1 {
  %result = call { i32, i1 } @llvm.nvvm.shfl.sync.down.i32p(i32 %lanes, i32 %value, i32 %by, i32 %control)
  %low = extractvalue { i32, i1 } %result, 0
  %in.range = extractvalue { i32, i1 } %result, 1
  %low.wide = zext i32 %low to i64
  %in.range.wide = zext i1 %in.range to i64
  %high = shl i64 %in.range.wide, 32
  %both = or disjoint i64 %high, %low.wide
  ret i64 %both
}

define noundef i32 @__gpukernel_shuffle_xor(i32 noundef %lanes, i32 noundef %value, i32 noundef %by, i32 noundef %control) #1 {
  %result = call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 %lanes, i32 %value, i32 %by, i32 %control)
  ret i32 %result
}

define noundef i64 @__gpukernel_shuffle_xor_in_range(i32 noundef %lanes, i32 noundef %value, i32 noundef %by, i32 noundef %control) #1 {
  %result = call { i32, i1 } @llvm.nvvm.shfl.sync.bfly.i32p(i32 %lanes, i32 %value, i32 %by, i32 %control)
  %low = extractvalue { i32, i1 } %result, 0
  %in.range = extractvalue { i32, i1 } %result, 1
  %low.wide = zext i32 %low to i64
  %in.range.wide = zext i1 %in.range to i64
  %high = shl i64 %in.range.wide, 32
  %both = or disjoint i64 %high, %low.wide
  ret i64 %both
}

; Shuffles of the lanes of a whole warp, of words that may be padding of a value.

define i32 @__gpukernel_pass_index(i32 %word, i32 noundef %lane, i32 noundef %control) #1 {
  %result = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %word, i32 %lane, i32 %control)
  ret i32 %result
}

define i32 @__gpukernel_pass_up(i32 %word, i32 noundef %by, i32 noundef %control) #1 {
  %result = call i32 @llvm.nvvm.shfl.sync.up.i32(i32 -1, i32 %word, i32 %by, i32 %control)
  ret i32 %result
}

define i32 @__gpukernel_pass_down(i32 %word, i32 noundef %by, i32 noundef %control) #1 {
  %result = call i32 @llvm.nvvm.shfl.sync.down.i32(i32 -1, i32 %word, i32 %by, i32 %control)
  ret i32 %result
}

; Votes. A vote is 0 or 1.

define noundef i32 @__gpukernel_vote_all(i32 noundef %lanes, i32 noundef %vote) #1 {
  %yes = icmp ne i32 %vote, 0
  %result = call i1 @llvm.nvvm.vote.all.sync(i32 %lanes, i1 %yes)
  %wide = zext i1 %result to i32
  ret i32 %wide
}

define noundef i32 @__gpukernel_vote_any(i32 noundef %lanes, i32 noundef %vote) #1 {
  %yes = icmp ne i32 %vote, 0
  %result = call i1 @llvm.nvvm.vote.any.sync(i32 %lanes, i1 %yes)
  %wide = zext i1 %result to i32
  ret i32 %wide
}

define noundef i32 @__gpukernel_vote_uni(i32 noundef %lanes, i32 noundef %vote) #1 {
  %yes = icmp ne i32 %vote, 0
  %result = call i1 @llvm.nvvm.vote.uni.sync(i32 %lanes, i1 %yes)
  %wide = zext i1 %result to i32
  ret i32 %wide
}

define noundef i32 @__gpukernel_ballot(i32 noundef %lanes, i32 noundef %vote) #1 {
  %yes = icmp ne i32 %vote, 0
  %result = call i32 @llvm.nvvm.vote.ballot.sync(i32 %lanes, i1 %yes)
  ret i32 %result
}

; The lanes with the same value.

define noundef i32 @__gpukernel_match_any_32(i32 noundef %lanes, i32 noundef %value) #1 {
  %result = call i32 @llvm.nvvm.match.any.sync.i32(i32 %lanes, i32 %value)
  ret i32 %result
}

define noundef i32 @__gpukernel_match_all_32(i32 noundef %lanes, i32 noundef %value) #1 {
  %result = call { i32, i1 } @llvm.nvvm.match.all.sync.i32p(i32 %lanes, i32 %value)
  %all = extractvalue { i32, i1 } %result, 1
  %wide = zext i1 %all to i32
  ret i32 %wide
}

define noundef i32 @__gpukernel_match_any_64(i32 noundef %lanes, i64 noundef %value) #1 {
  %result = call i32 @llvm.nvvm.match.any.sync.i64(i32 %lanes, i64 %value)
  ret i32 %result
}

define noundef i32 @__gpukernel_match_all_64(i32 noundef %lanes, i64 noundef %value) #1 {
  %result = call { i32, i1 } @llvm.nvvm.match.all.sync.i64p(i32 %lanes, i64 %value)
  %all = extractvalue { i32, i1 } %result, 1
  %wide = zext i1 %all to i32
  ret i32 %wide
}
