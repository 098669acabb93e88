; Loads that stay where they are. As others, they could be of memory that nothing writes, and ptxas moves such loads (`ld.global.nc`) behind barriers, to where their values
; are used, so that few are under way at once.

define i8 @__gpukernel_load_here_u8(ptr %from) #0 {
  %global = addrspacecast ptr %from to ptr addrspace(1)
  %wide = call i16 asm sideeffect "ld.global.b8 $0, [$1];", "=h,l"(ptr addrspace(1) %global)
  %value = trunc i16 %wide to i8
  ret i8 %value
}

define i16 @__gpukernel_load_here_u16(ptr %from) #0 {
  %global = addrspacecast ptr %from to ptr addrspace(1)
  %value = call i16 asm sideeffect "ld.global.b16 $0, [$1];", "=h,l"(ptr addrspace(1) %global)
  ret i16 %value
}

define i32 @__gpukernel_load_here_u32(ptr %from) #0 {
  %global = addrspacecast ptr %from to ptr addrspace(1)
  %value = call i32 asm sideeffect "ld.global.b32 $0, [$1];", "=r,l"(ptr addrspace(1) %global)
  ret i32 %value
}

define i64 @__gpukernel_load_here_u64(ptr %from) #0 {
  %global = addrspacecast ptr %from to ptr addrspace(1)
  %value = call i64 asm sideeffect "ld.global.b64 $0, [$1];", "=l,l"(ptr addrspace(1) %global)
  ret i64 %value
}
