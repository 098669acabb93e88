//! The kernels of this crate, loaded on a device when it is first used there.

use gpukernel::{Device, LazyModule, Module};

use crate::Result;

static KERNELS: LazyModule = LazyModule::new(gpukernel::image!("gpukernel-array-kernels"));

/// Returns the kernels of this crate on a device: the module of [`add`](fn@crate::add), [`sub`](fn@crate::sub), [`mul`](fn@crate::mul),
/// [`div`](fn@crate::div), [`neg`](fn@crate::neg), [`maximum`](fn@crate::maximum) and [`minimum`](fn@crate::minimum).
/// They are loaded at the first call, and stay loaded; operators and reductions such as [`sum`](crate::Array::sum) use the same.
///
/// ```
/// use gpukernel::Device;
/// use gpukernel_array::{Array, ArrayFunction, add, module};
///
/// let device = Device::cpu();
/// let x = Array::from_vec(&device, vec![1, 2, 3])?;
/// let sum = add::apply(&module(&device)?, (&x, 10))?;
/// assert_eq!(sum.to_vec()?, [11, 12, 13]);
/// # Ok::<(), gpukernel_array::Error>(())
/// ```
///
/// # Errors
/// As [`Device::load`].
pub fn module(device: &Device) -> Result<Module> {
    Ok(KERNELS.on(device)?)
}
