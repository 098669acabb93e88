//! The kernels that ship, loaded on a device when they are first used there.

use std::sync::{Mutex, PoisonError};

use gpukernel::{Device, Image, Module};

use crate::Result;

static KERNELS: Image = gpukernel::image!("gpukernel-algorithms-kernels");

/// What the paths of its kernels begin with.
pub(crate) const CRATE: &str = "gpukernel_algorithms_kernels::";

/// One per device, for as long as the program runs. There are few devices, and comparing them is cheap.
static MODULES: Mutex<Vec<(Device, Module)>> = Mutex::new(Vec::new());

pub(crate) fn module(device: &Device) -> Result<Module> {
    // Nothing panics while it is locked; and if it did, the list would be whole.
    let mut modules = MODULES.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, module)) = modules.iter().find(|(of, _)| of == device) {
        return Ok(module.clone());
    }
    let module = device.load(&KERNELS)?;
    modules.push((device.clone(), module.clone()));
    Ok(module)
}
