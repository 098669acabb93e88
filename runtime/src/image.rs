//! Images of kernels, embedded in a program.

use std::borrow::Cow;

use gpu_std::host::HostFunction;

/// An image of compiled kernels, written by `gpukernel-build` and not yet loaded on a device (like a fatbin).
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
    /// Host versions of CUDA C functions that kernels call on the CPU, sorted by name.
    functions: &'static [HostFunction],
}

impl Image {
    /// Creates an image from static bytes that were not embedded by [`image!`](crate::image!).
    ///
    /// # Safety
    /// The image was built by `gpukernel-build` from the same source as the program, or it holds no code: a GPU runs its code in place of
    /// the program's kernels of the same paths, and only their signatures are compared.
    pub const unsafe fn from_static(bytes: &'static [u8]) -> Self {
        Self { bytes: Cow::Borrowed(bytes), functions: &[] }
    }

    /// Creates an image from bytes read at run time, such as from a file.
    ///
    /// # Safety
    /// As [`from_static`](Self::from_static).
    pub unsafe fn from_bytes(bytes: Vec<u8>) -> Self {
        Self { bytes: Cow::Owned(bytes), functions: &[] }
    }

    /// Creates the image that [`image!`](crate::image!) embeds.
    ///
    /// # Safety
    /// As [`from_static`](Self::from_static), and each function has the signature that the kernels declare for its name.
    #[doc(hidden)]
    pub const unsafe fn __from_build(bytes: &'static [u8], functions: &'static [HostFunction]) -> Self {
        Self { bytes: Cow::Borrowed(bytes), functions }
    }

    pub(crate) fn functions(&self) -> &'static [HostFunction] {
        self.functions
    }

    /// The bytes of the image.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}

/// Embeds the image that the crate's build script built under this name.
///
/// Crates that forbid `unsafe` code can use it too.
///
/// ```ignore
/// // build.rs: gpukernel_build::Builder::new("kernels").build()
/// static KERNELS: gpukernel::Image = gpukernel::image!("kernels");
/// ```
///
/// The name is that of an image in `OUT_DIR`, not a path:
///
/// ```compile_fail
/// static KERNELS: gpukernel::Image = gpukernel::image!("../../somewhere/else");
/// ```
#[macro_export]
macro_rules! image {
    ($name:literal) => {{
        #[allow(unused_imports)]
        use $crate::__host::{HostCode, HostFunction};

        const _: () = ::core::assert!(
            $crate::__host::is_name($name),
            "`image!` takes the name of an image that the build script made, not a path"
        );
        const BYTES: &[::core::primitive::u8] =
            ::core::include_bytes!(::core::concat!(::core::env!("OUT_DIR"), "/", $name, ".gpukimg"));
        const FUNCTIONS: &[HostFunction] =
            ::core::include!(::core::concat!(::core::env!("OUT_DIR"), "/", $name, ".host.rs"));

        // SAFETY: the package's build script made both in one go (docs/decisions/0019).
        unsafe { $crate::Image::__from_build(BYTES, FUNCTIONS) }
    }};
}

/// Whether a text is a file name without a path.
pub(crate) const fn is_name(text: &str) -> bool {
    let (bytes, mut i) = (text.as_bytes(), 0);
    while i < bytes.len() {
        if matches!(bytes[i], b'/' | b'\\' | b':') {
            return false;
        }
        i += 1;
    }
    !bytes.is_empty()
}

#[cfg(test)]
mod tests {
    use super::is_name;

    #[test]
    fn names_of_images_are_no_paths() {
        assert!(is_name("kernels") && is_name("linked-nvcc") && is_name("..."));
        for path in ["", "../kernels", "/etc/kernels", "a/b", "a\\b", "c:kernels"] {
            assert!(!is_name(path), "{path}");
        }
    }
}
