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
