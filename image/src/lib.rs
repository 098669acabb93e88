//! The image format: `gpukernel-build` writes images, a host binary embeds them, and the `gpukernel` runtime loads them.
//!
//! An image is a [`Manifest`] (the kernels, their symbols, parameters and resources) followed by the code of each architecture,
//! as PTX or as machine code, like a fatbin, and compressed. Identical inputs give identical bytes.
//!
//! ```
//! use gpukernel_image::{Arch, Image, ImageWriter, Manifest};
//!
//! let mut writer = ImageWriter::new(Manifest::new("demo"));
//! writer.add_ptx("sm_75".parse::<Arch>()?, ".version 6.3");
//! let bytes = writer.finish();
//!
//! let image = Image::parse(&bytes)?;
//! assert_eq!(image.manifest().crate_name, "demo");
//! assert_eq!(image.code_for("sm_90".parse()?).unwrap().text()?, ".version 6.3");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod arch;
mod container;
mod manifest;

pub use arch::{Arch, ArchError};
pub use container::{Code, CodeKind, Image, ImageError, ImageWriter, Part, PartKind};
pub use gpukernel_abi::Contract;
pub use manifest::{Constant, Kernel, Manifest, Parameter, Resources, Toolchain};
