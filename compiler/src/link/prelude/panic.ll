; Panics: the first thread that panics writes to a record that the host reads, and every thread that panics ends.
;
; The runtime gives the address of the record, memory of the host, when it loads the module. The offsets `${panic...}` are those of
; `gpukernel_abi::panic`. The lowest bit of the address is set once there is a record, for those on the device who ask for that: the
; host's memory is a microsecond away.

@${panic.record} = addrspace(1) externally_initialized global i64 0, align 8

; In kernels that reach a function which others reach too and which can panic: their number.
@gpukernel_kernel = internal addrspace(3) global i32 poison, align 4

; Gives the record if this thread is the first, filled in but for the message, else null. A program that knows nothing of
; records has set none: there a panic is a trap.
;
; The place of the thread is read by inline assembly, so that the kernel's own indices are not kept for this.
define ptr @__gpukernel_panic_claim(ptr noundef %location, i32 noundef %kernel) #1 {
  %marked = load i64, ptr addrspace(1) @${panic.record}, align 8
  %address = and i64 %marked, -2
  %unset = icmp eq i64 %address, 0
  br i1 %unset, label %unrecorded, label %claim

unrecorded:
  call void @llvm.trap()
  unreachable

late:
  ret ptr null

claim:
  %record = inttoptr i64 %address to ptr addrspace(1)
  %claimed = getelementptr inbounds i32, ptr addrspace(1) %record, i64 ${panic.claimed}
  %before = atomicrmw xchg ptr addrspace(1) %claimed, i32 1 monotonic, align 4
  %won = icmp eq i32 %before, 0
  br i1 %won, label %fill, label %late

fill:
  %value0 = call i32 asm sideeffect "mov.u32 $0, %ctaid.x;", "=r"()
  %value1 = call i32 asm sideeffect "mov.u32 $0, %ctaid.y;", "=r"()
  %value2 = call i32 asm sideeffect "mov.u32 $0, %ctaid.z;", "=r"()
  %value3 = call i32 asm sideeffect "mov.u32 $0, %tid.x;", "=r"()
  %value4 = call i32 asm sideeffect "mov.u32 $0, %tid.y;", "=r"()
  %value5 = call i32 asm sideeffect "mov.u32 $0, %tid.z;", "=r"()
  %at0 = getelementptr inbounds i32, ptr addrspace(1) %record, i64 ${panic.block.x}
  store i32 %value0, ptr addrspace(1) %at0, align 8
  %at1 = getelementptr inbounds i32, ptr addrspace(1) %record, i64 ${panic.block.y}
  store i32 %value1, ptr addrspace(1) %at1, align 4
  %at2 = getelementptr inbounds i32, ptr addrspace(1) %record, i64 ${panic.block.z}
  store i32 %value2, ptr addrspace(1) %at2, align 8
  %at3 = getelementptr inbounds i32, ptr addrspace(1) %record, i64 ${panic.thread.x}
  store i32 %value3, ptr addrspace(1) %at3, align 4
  %at4 = getelementptr inbounds i32, ptr addrspace(1) %record, i64 ${panic.thread.y}
  store i32 %value4, ptr addrspace(1) %at4, align 8
  %at5 = getelementptr inbounds i32, ptr addrspace(1) %record, i64 ${panic.thread.z}
  store i32 %value5, ptr addrspace(1) %at5, align 4
  %at_length = getelementptr inbounds i32, ptr addrspace(1) %record, i64 ${panic.message_words}
  store i32 0, ptr addrspace(1) %at_length, align 4
  %at_kernel = getelementptr inbounds i32, ptr addrspace(1) %record, i64 ${panic.kernel}
  store i32 %kernel, ptr addrspace(1) %at_kernel, align 8
  %at_place = getelementptr inbounds i32, ptr addrspace(1) %record, i64 ${panic.location}
  %place = ptrtoint ptr %location to i64
  store i64 %place, ptr addrspace(1) %at_place, align 8
  %generic = addrspacecast ptr addrspace(1) %record to ptr
  ret ptr %generic
}

; Lets the host see that there is a record, which it reads when the kernel has ended: so nothing orders the words, and no fence of the system's scope is
; needed, of which the driver (580) leaves two kilobytes on the device for each kernel that it loads.
define void @__gpukernel_panic_publish(ptr noundef %record) #1 {
  %global = addrspacecast ptr %record to ptr addrspace(1)
  %at_written = getelementptr inbounds i32, ptr addrspace(1) %global, i64 ${panic.written}
  store atomic i32 1, ptr addrspace(1) %at_written monotonic, align 4
  %before = atomicrmw or ptr addrspace(1) @${panic.record}, i64 1 syncscope("device") monotonic, align 8
  ret void
}

; Ends the thread. Its peers wait for it no more (PTX ISA, "exit", "bar.sync").
define void @__gpukernel_panic_retire() #1 {
  call void @llvm.nvvm.exit()
  unreachable
}

; Whether a thread of the module has panicked, and the host has not read of it yet: for threads that wait for others.
define i32 @__gpukernel_has_panicked() #1 {
  %marked = load volatile i64, ptr addrspace(1) @${panic.record}, align 8
  %low = trunc i64 %marked to i32
  %mark = and i32 %low, 1
  ret i32 %mark
}

; All of it, where no message is recorded.
define void @__gpukernel_panic_place(ptr noundef %location, i32 noundef %kernel) #1 {
  %record = call ptr @__gpukernel_panic_claim(ptr %location, i32 %kernel)
  %late = icmp eq ptr %record, null
  br i1 %late, label %retire, label %publish

publish:
  call void @__gpukernel_panic_publish(ptr %record)
  br label %retire

retire:
  call void @llvm.nvvm.exit()
  unreachable
}

define void @__gpukernel_kernel_enter(i32 noundef %kernel) #1 {
  store volatile i32 %kernel, ptr addrspace(3) @gpukernel_kernel, align 4
  ret void
}

define i32 @__gpukernel_kernel_entered() #1 {
  %kernel = load volatile i32, ptr addrspace(3) @gpukernel_kernel, align 4
  ret i32 %kernel
}

; Memory, for gpu-std's code that records messages: Rust's own accesses can panic in a dev build.
define i8 @__gpukernel_panic_load_u8(ptr noundef %at) #1 {
  %value = load i8, ptr %at, align 1
  ret i8 %value
}

define i64 @__gpukernel_panic_load_u64(ptr noundef %at) #1 {
  %value = load i64, ptr %at, align 8
  ret i64 %value
}

define void @__gpukernel_panic_store_u32(ptr noundef %at, i32 noundef %value) #1 {
  store volatile i32 %value, ptr %at, align 4
  ret void
}
