; Output of kernels: room in a buffer that the host reads and empties.
;
; The runtime gives the buffer's address when it loads the module. The offsets `${output...}` are those of `gpukernel_abi::output`.

@${output} = addrspace(1) externally_initialized global ptr addrspace(1) null, align 8

; Room for so many words, or null if there is none left.
define ptr @__gpukernel_print_reserve(i32 noundef %words) #1 {
  %buffer = load ptr addrspace(1), ptr addrspace(1) @${output}, align 8
  %unset = icmp eq ptr addrspace(1) %buffer, null
  br i1 %unset, label %none, label %ask

ask:
  %more = zext i32 %words to i64
  %at_requested = getelementptr inbounds i64, ptr addrspace(1) %buffer, i64 ${output.requested}
  %start = atomicrmw add ptr addrspace(1) %at_requested, i64 %more syncscope("device") monotonic, align 8
  %end = add i64 %start, %more
  %at_there = getelementptr inbounds i64, ptr addrspace(1) %buffer, i64 ${output.capacity}
  %there = load i64, ptr addrspace(1) %at_there, align 8
  %fits = icmp ule i64 %end, %there
  br i1 %fits, label %found, label %lost

found:
  %records = getelementptr inbounds i64, ptr addrspace(1) %buffer, i64 ${output.head}
  %at = getelementptr inbounds i32, ptr addrspace(1) %records, i64 %start
  %generic = addrspacecast ptr addrspace(1) %at to ptr
  ret ptr %generic

lost:
  %at_lost = getelementptr inbounds i64, ptr addrspace(1) %buffer, i64 ${output.dropped}
  %before = atomicrmw add ptr addrspace(1) %at_lost, i64 1 syncscope("device") monotonic, align 8
  br label %none

none:
  ret ptr null
}
