//! Images embedded in a program.

use std::borrow::Cow;

use gpu_std::host::HostFunction;

/// Kernels in a program: what `gpukernel-build` wrote, not yet loaded on a device.
///
/// [`image!`](crate::image!) embeds one; [`Device::load`](crate::Device::load) loads it.
///
/// ```
/// use gpukernel::{Device, Error, Image};
///
/// // SAFETY: there is no code in it.
/// let image = unsafe { Image::from_static(b"not an image") };
/// assert!(matches!(Device::cpu().load(&image), Err(Error::Image(_))));
/// ```
#[derive(Clone, Debug)]
pub struct Image {
    bytes: Cow<'static, [u8]>,
    /// What kernels call on the CPU in place of functions in CUDA C, sorted by name.
    functions: &'static [HostFunction],
}

impl Image {
    /// An image from bytes in the program that [`image!`](crate::image!) did not put there.
    ///
    /// # Safety
    /// A GPU runs the code of the image in place of the program's kernels of the same paths, and only their parameters are
    /// compared. So `gpukernel-build` made it from the same source, or it holds no code.
    pub const unsafe fn from_static(bytes: &'static [u8]) -> Self {
        Self { bytes: Cow::Borrowed(bytes), functions: &[] }
    }

    /// An image from bytes that were read from somewhere, such as a file.
    ///
    /// # Safety
    /// As [`from_static`](Self::from_static).
    pub unsafe fn from_bytes(bytes: Vec<u8>) -> Self {
        Self { bytes: Cow::Owned(bytes), functions: &[] }
    }

    /// What [`image!`](crate::image!) embeds. Safe, because crates that forbid `unsafe` code embed kernels too; not to be called
    /// otherwise.
    #[doc(hidden)]
    pub const fn __from_build(bytes: &'static [u8], functions: &'static [HostFunction]) -> Self {
        Self { bytes: Cow::Borrowed(bytes), functions }
    }

    pub(crate) fn functions(&self) -> &'static [HostFunction] {
        self.functions
    }

    /// Its bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}

/// Embeds the image that the crate's build script made under this name.
///
/// ```ignore
/// // build.rs: gpukernel_build::Builder::new("kernels").build()
/// static KERNELS: gpukernel::Image = gpukernel::image!("kernels");
/// ```
#[macro_export]
macro_rules! image {
    ($name:literal) => {
        $crate::Image::__from_build(
            ::core::include_bytes!(::core::concat!(::core::env!("OUT_DIR"), "/", $name, ".gpukimg")),
            {
                #[allow(unused_imports)]
                use $crate::__host::{HostCode, HostFunction};
                ::core::include!(::core::concat!(::core::env!("OUT_DIR"), "/", $name, ".host.rs"))
            },
        )
    };
}
