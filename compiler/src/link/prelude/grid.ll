; The barrier of a grid that was launched cooperatively, as CUDA's own (cooperative_groups/details/sync.h and driver_abi.h): the
; driver gives each such launch a word of memory, whose highest bit changes when all blocks are there. The first block adds what
; is missing to that bit, the others 1 each.

; The record of panics (panic.ll). A block that waits for one whose threads ended in a panic would wait for ever.
@__gpukernel_panic_record = addrspace(1) externally_initialized global i64 0, align 8

define void @__gpukernel_grid_barrier() #1 {
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %tx = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %ty = call i32 @llvm.nvvm.read.ptx.sreg.tid.y()
  %tz = call i32 @llvm.nvvm.read.ptx.sreg.tid.z()
  %txy = or i32 %tx, %ty
  %t = or i32 %txy, %tz
  %is.first.thread = icmp eq i32 %t, 0
  br i1 %is.first.thread, label %arrive, label %done

arrive:
  ; The higher half of its address comes first.
  %high = call i32 @llvm.nvvm.read.ptx.sreg.envreg1()
  %low = call i32 @llvm.nvvm.read.ptx.sreg.envreg2()
  %low.wide = zext i32 %low to i64
  %high.wide = zext i32 %high to i64
  %high.place = shl i64 %high.wide, 32
  %address = or disjoint i64 %high.place, %low.wide
  %workspace = inttoptr i64 %address to ptr addrspace(1)
  %barrier = getelementptr i8, ptr addrspace(1) %workspace, i64 4
  %gx = call i32 @llvm.nvvm.read.ptx.sreg.nctaid.x()
  %gy = call i32 @llvm.nvvm.read.ptx.sreg.nctaid.y()
  %gz = call i32 @llvm.nvvm.read.ptx.sreg.nctaid.z()
  %gxy = mul i32 %gx, %gy
  %blocks = mul i32 %gxy, %gz
  %bx = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %by = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.y()
  %bz = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.z()
  %bxy = or i32 %bx, %by
  %b = or i32 %bxy, %bz
  %is.first.block = icmp eq i32 %b, 0
  ; 2^31 - (blocks - 1)
  %missing = sub i32 -2147483647, %blocks
  %add = select i1 %is.first.block, i32 %missing, i32 1
  ; LLVM 22 emits the instruction without its order, so that is a fence of its own.
  fence syncscope("device") release
  %before = atomicrmw add ptr addrspace(1) %barrier, i32 %add syncscope("device") release, align 4
  br label %wait

wait:
  %count = phi i32 [ 0, %arrive ], [ %count.next, %look ]
  %now = load atomic i32, ptr addrspace(1) %barrier syncscope("device") acquire, align 4
  %changed = xor i32 %before, %now
  %passed = icmp slt i32 %changed, 0
  br i1 %passed, label %done, label %again

again:
  ; Now and then: the other word is what the block waits for.
  %count.next = add i32 %count, 1
  %turn = and i32 %count.next, 1023
  %is.turn = icmp eq i32 %turn, 0
  br i1 %is.turn, label %ask, label %look

ask:
  %marked = load volatile i64, ptr addrspace(1) @__gpukernel_panic_record, align 8
  %mark = and i64 %marked, 1
  %alive = icmp eq i64 %mark, 0
  br i1 %alive, label %look, label %end

end:
  call void @llvm.nvvm.exit()
  unreachable

look:
  br label %wait

done:
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  ret void
}
