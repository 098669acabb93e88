; The address of a shared array. rustc calls it so that it learns nothing from the missing initial value.
define noundef ptr @__gpukernel_shared(ptr noundef returned %storage) #0 {
  ret ptr %storage
}

; The shared memory of the block whose size the launch gives. It moves to its address space with the shared arrays.
@__gpukernel_dynamic_shared_memory = external global [0 x i8], section "${section.shared}", align 128

define noundef ptr @__gpukernel_dynamic_shared() #0 {
  ret ptr @__gpukernel_dynamic_shared_memory
}
