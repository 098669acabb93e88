; Bessel's function of the first kind of order n: libdevice's is NaN at 0, where it is 1 for n = 0 and 0 for all n > 0.

declare float @__nv_jnf(i32, float)
declare double @__nv_jn(i32, double)

define noundef float @__gpukernel_jn_f32(i32 noundef %n, float noundef %x) #0 {
  %elsewhere = call float @__nv_jnf(i32 %n, float %x)
  %first = icmp eq i32 %n, 0
  %value = select i1 %first, float 1.0, float 0.0
  %zero = fcmp oeq float %x, 0.0
  %order = icmp sge i32 %n, 0
  %known = and i1 %zero, %order
  %result = select i1 %known, float %value, float %elsewhere
  ret float %result
}

define noundef double @__gpukernel_jn_f64(i32 noundef %n, double noundef %x) #0 {
  %elsewhere = call double @__nv_jn(i32 %n, double %x)
  %first = icmp eq i32 %n, 0
  %value = select i1 %first, double 1.0, double 0.0
  %zero = fcmp oeq double %x, 0.0
  %order = icmp sge i32 %n, 0
  %known = and i1 %zero, %order
  %result = select i1 %known, double %value, double %elsewhere
  ret double %result
}
