; The address of a shared array. rustc calls it so that it learns nothing from the missing initial value.
define noundef ptr @__gpukernel_shared(ptr noundef returned %storage) #0 {
  ret ptr %storage
}
