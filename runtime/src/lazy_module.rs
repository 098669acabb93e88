//! The kernels of a library, loaded on a device when they are first used there.

use std::sync::{Mutex, PoisonError};

use crate::{Device, Image, Module, Result};

/// The module of an image on each device, loaded when it is first asked for and kept as long as the program runs: for libraries that ship kernels, as a
/// static.
///
/// ```
/// use gpukernel::{Device, Image, LazyModule};
/// # use gpukernel_image::{ImageWriter, Manifest};
///
/// # fn main() -> gpukernel::Result<()> {
/// # let mut manifest = Manifest::new("doc");
/// # manifest.no_code = Some("this is an example".to_owned());
/// # // SAFETY: it holds no code.
/// # let image = unsafe { Image::from_bytes(ImageWriter::new(manifest).finish()) };
/// // In a library: static KERNELS: LazyModule = LazyModule::new(gpukernel::image!("kernels"));
/// let kernels = LazyModule::new(image);
/// let module = kernels.on(&Device::cpu())?;
/// assert_eq!(module.device(), &Device::cpu());
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct LazyModule {
    image: Image,
    /// One per device. There are few devices, and comparing them is cheap.
    modules: Mutex<Vec<(Device, Module)>>,
}

impl LazyModule {
    /// The modules of an image, none of which is loaded yet.
    pub const fn new(image: Image) -> Self {
        Self { image, modules: Mutex::new(Vec::new()) }
    }

    /// The module on a device.
    ///
    /// # Errors
    /// As [`Device::load`].
    pub fn on(&self, device: &Device) -> Result<Module> {
        // Nothing panics while it is locked; and if it did, the list would be whole.
        let mut modules = self.modules.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, module)) = modules.iter().find(|(of, _)| of == device) {
            return Ok(module.clone());
        }
        let module = device.load(&self.image)?;
        modules.push((device.clone(), module.clone()));
        Ok(module)
    }
}
