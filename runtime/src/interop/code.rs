//! The code of an image, for others' loaders.

use std::fmt;

use gpukernel_image::Manifest;

use crate::{Device, Error, Image, Result, backend::Any, cuda};

/// The code of an image for one GPU, as the driver and others' bindings load it: [`Device::code_of`].
#[derive(Clone)]
pub struct DeviceCode {
    bytes: Vec<u8>,
    is_ptx: bool,
    manifest: Manifest,
}

impl DeviceCode {
    /// The code if it is machine code, a cubin.
    #[doc(alias = "cuModuleLoadData")]
    pub fn cubin(&self) -> Option<&[u8]> {
        (!self.is_ptx).then_some(&self.bytes)
    }

    /// The code if it is PTX, which the driver compiles; without a NUL at the end.
    #[doc(alias = "cuModuleLoadData")]
    pub fn ptx(&self) -> Option<&str> {
        self.is_ptx.then(|| str::from_utf8(&self.bytes).unwrap_or_default().trim_end_matches('\0'))
    }

    /// The name in the code of a kernel, given by its path, such as `kernels::saxpy`. `None` if the image has no such kernel.
    ///
    /// Its parameters are those of the Rust function in order, a slice as two: address and length, both of 64 bits. What a launch by this crate checks, whoever
    /// launches by this name has to ensure: the [contract](https://docs.rs/gpukernel-std), and that nobody else writes what it reads.
    #[doc(alias = "cuModuleGetFunction")]
    pub fn symbol(&self, kernel: &str) -> Option<&str> {
        self.manifest.kernel(kernel).map(|kernel| kernel.symbol.as_str())
    }
}

impl fmt::Debug for DeviceCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DeviceCode")
            .field("crate", &self.manifest.crate_name)
            .field("is_ptx", &self.is_ptx)
            .field("bytes", &self.bytes.len())
            .finish()
    }
}

impl Device {
    /// The code of an image that [`load`](Self::load) loads on this GPU, for others' loaders. A panic of a kernel is a trap there, after which the context is lost, and
    /// what it prints is lost: where others can take a loaded module, give them [`Module::as_raw`](crate::Module::as_raw).
    ///
    /// ```no_run
    /// # let (device, image): (gpukernel::Device, gpukernel::Image) = todo!();
    /// # fn load(_: &[u8]) {}
    /// let code = device.code_of(&image)?;
    /// if let (Some(cubin), Some(name)) = (code.cubin(), code.symbol("kernels::saxpy")) {
    ///     load(cubin); // cuModuleLoadData, then cuModuleGetFunction for the name
    ///     # let _ = name;
    /// }
    /// # Ok::<(), gpukernel::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::NeedsGpu`] on the CPU device, else as [`load`](Self::load).
    #[doc(alias = "cuModuleLoadData")]
    pub fn code_of(&self, image: &Image) -> Result<DeviceCode> {
        let Any::Cuda(device) = &self.backend else {
            return Err(Error::NeedsGpu {
                what: "the code of an image for a device".to_owned(),
                device: self.to_string(),
            });
        };
        let image = gpukernel_image::Image::parse(image.bytes())?;
        let (bytes, is_ptx) = cuda::code_of(device, &image)?;
        Ok(DeviceCode { bytes, is_ptx, manifest: image.manifest().clone() })
    }
}
