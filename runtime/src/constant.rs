//! Constants of a module, set from the host (`cudaMemcpyToSymbol`).

use gpu_std::{Constant, DeviceCopy};

use crate::{
    Error, Module, Result,
    backend::{BackendModule, each},
    module::signatures_differ,
};

/// The meaning of the lines of a constant's signature.
const LINES: [&str; 2] = ["package", "type"];

impl Module {
    /// Sets a constant for subsequent launches of this module and its clones (`cudaMemcpyToSymbol`).
    ///
    /// Launches that are already queued see the old value: on a GPU this waits for all work of the device.
    ///
    /// ```
    /// use gpu_std::{Constant, constant, prelude::*};
    /// use gpukernel::{Device, for_each};
    /// # use gpukernel::Image;
    /// # use gpukernel_image::{ImageWriter, Manifest};
    ///
    /// #[constant]
    /// static FACTOR: Constant<f32> = Constant::new(1.0);
    ///
    /// #[kernel]
    /// fn scale(y: PerThread<f32>) {
    ///     for (_, y) in y {
    ///         *y *= FACTOR.get();
    ///     }
    /// }
    ///
    /// # let mut manifest = Manifest::new("doc");
    /// # manifest.no_code = Some("this is an example".to_owned());
    /// # // SAFETY: it holds no code.
    /// # let KERNELS = unsafe { Image::from_bytes(ImageWriter::new(manifest).finish()) };
    /// let device = Device::cpu();
    /// let module = device.load(&KERNELS)?;
    /// let mut y = device.upload(&[1.0, 2.0])?;
    /// module.set_constant(&FACTOR, 3.0)?;
    /// module.launch(scale, for_each(2), (&mut y,))?;
    /// assert_eq!(y.to_vec()?, [3.0, 6.0]);
    /// assert_eq!(module.constant(&FACTOR)?, 3.0);
    /// # Ok::<(), gpukernel::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::NoSuchConstant`] if it is not declared with `#[constant]`, or not in the image; [`Error::StaleImage`] if it is of
    /// another type or package there; else as [`Device::synchronize`](crate::Device::synchronize).
    #[doc(
        alias = "cudaMemcpyToSymbol",
        alias = "const.array_like",
        alias = "cuda.const.array_like",
        alias = "cuModuleGetGlobal"
    )]
    pub fn set_constant<T: DeviceCopy>(&self, constant: &'static Constant<T>, value: T) -> Result<()> {
        let symbol = self.find_constant(constant)?;
        let set = each!(self.code(), module => {
            // SAFETY: `find_constant` compared the types.
            unsafe { module.code.set_constant(constant, &symbol, value)? }
        });
        if set { Ok(()) } else { Err(self.no_such_constant(constant.name())) }
    }

    /// Returns the value of a constant that launches of this module see (`cudaMemcpyFromSymbol`).
    ///
    /// # Errors
    /// As [`set_constant`](Self::set_constant).
    #[doc(alias = "cudaMemcpyFromSymbol")]
    pub fn constant<T: DeviceCopy>(&self, constant: &'static Constant<T>) -> Result<T> {
        let symbol = self.find_constant(constant)?;
        let value = each!(self.code(), module => {
            // SAFETY: as in `set_constant`.
            unsafe { module.code.constant(constant, &symbol)? }
        });
        value.ok_or_else(|| self.no_such_constant(constant.name()))
    }

    /// The name of a constant in the code.
    fn find_constant<T: DeviceCopy>(&self, constant: &Constant<T>) -> Result<String> {
        let Some(name) = constant.name() else { return Err(self.no_such_constant(None)) };
        let manifest = self.manifest();
        if manifest.no_code.is_some() {
            return Ok(String::new());
        }
        let Some(found) = manifest.constants.iter().find(|known| known.name == name) else {
            return Err(self.no_such_constant(Some(name)));
        };
        let here = constant.__signature().map_or(String::new(), |signature| signature.to_string());
        let by_size = || {
            let (there, here) = (found.size_bytes, size_of::<T>());
            (there != here).then(|| format!("it has {there} bytes there, {here} here"))
        };
        if let Some(difference) = signatures_differ(&found.signature, &here, &LINES).or_else(by_size) {
            return Err(Error::StaleImage { kernel: name.to_owned(), difference });
        }
        Ok(found.symbol.clone())
    }

    fn no_such_constant(&self, name: Option<&str>) -> Error {
        Error::NoSuchConstant {
            constant: name.unwrap_or("one without `#[constant]`").to_owned(),
            crate_name: self.manifest().crate_name.clone(),
            available: self.manifest().constants.iter().map(|constant| constant.name.clone()).collect(),
        }
    }
}
