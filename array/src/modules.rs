//! Kernels that are loaded on a device when they are first used there.

use std::sync::{Mutex, PoisonError};

use gpukernel::{Device, Image, Module};

use crate::Result;

/// The kernels of an image, loaded on each device when they are first used there, for as long as the program runs: for a `static`.
///
/// ```
/// use gpukernel::Device;
/// # use gpukernel::Image;
/// use gpukernel_array::Modules;
///
/// # const NONE: fn() -> Image = || {
/// # let mut manifest = gpukernel_image::Manifest::new("doc");
/// # manifest.no_code = Some("this is an example".to_owned());
/// # // SAFETY: it holds no code.
/// # unsafe { Image::from_bytes(gpukernel_image::ImageWriter::new(manifest).finish()) }
/// # };
/// // static KERNELS: Modules = Modules::new(gpukernel::image!("kernels"));
/// # static KERNELS: std::sync::LazyLock<Modules> = std::sync::LazyLock::new(|| Modules::new(NONE()));
/// let module = KERNELS.on(&Device::cpu())?;
/// # let _ = module;
/// # Ok::<(), gpukernel_array::Error>(())
/// ```
#[derive(Debug)]
pub struct Modules {
    image: Image,
    /// There are few devices, and comparing them is cheap.
    loaded: Mutex<Vec<(Device, Module)>>,
}

impl Modules {
    /// Of an image.
    pub const fn new(image: Image) -> Self {
        Self { image, loaded: Mutex::new(Vec::new()) }
    }

    /// Returns the kernels on a device, and loads them if that has not been done.
    ///
    /// # Errors
    /// As [`Device::load`].
    pub fn on(&self, device: &Device) -> Result<Module> {
        // Nothing panics while it is locked; and if it did, the list would be whole.
        let mut loaded = self.loaded.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, module)) = loaded.iter().find(|(of, _)| of == device) {
            return Ok(module.clone());
        }
        let module = device.load(&self.image)?;
        loaded.push((device.clone(), module.clone()));
        Ok(module)
    }
}
