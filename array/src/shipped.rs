//! The kernels of this crate, loaded on a device when it is first used there.

use std::sync::{Mutex, PoisonError};

use gpukernel::{Device, Image, Module};

use crate::Result;

static KERNELS: Image = gpukernel::image!("gpukernel-array-kernels");

/// One per device, for as long as the program runs. There are few devices, and comparing them is cheap.
static MODULES: Mutex<Vec<(Device, Module)>> = Mutex::new(Vec::new());

/// Returns the kernels of this crate on a device: the module of [`add`](fn@crate::add), [`sub`](fn@crate::sub), [`mul`](fn@crate::mul),
/// [`div`](fn@crate::div) and [`neg`](fn@crate::neg). They are loaded at the first call, and stay loaded; operators use the same.
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
    // Nothing panics while it is locked; and if it did, the list would be whole.
    let mut modules = MODULES.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, module)) = modules.iter().find(|(of, _)| of == device) {
        return Ok(module.clone());
    }
    let module = device.load(&KERNELS)?;
    modules.push((device.clone(), module.clone()));
    Ok(module)
}
