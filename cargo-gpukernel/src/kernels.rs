//! The kernels of a program, read from the images that are embedded in its executable.

use std::{fs, path::Path};

use anyhow::Context;
use gpukernel_image::{Image, ImageError};

use crate::kernel_name;

/// How images begin.
const MAGIC: &[u8] = b"gpukimg\0";

/// The kernels of a program.
#[derive(Debug, Default)]
pub(crate) struct Kernels {
    all: Vec<Kernel>,
}

/// A kernel of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Kernel {
    /// Its path: `kernels::saxpy`.
    pub(crate) name: String,
    /// The name of its code.
    pub(crate) symbol: String,
    /// The path of its function, which for an instance of a generic kernel may be another than its own.
    pub(crate) function: String,
}

impl Kernels {
    /// Those of an executable.
    pub(crate) fn of(executable: &Path) -> anyhow::Result<Self> {
        let bytes = fs::read(executable).with_context(|| format!("cannot read {}", executable.display()))?;
        Self::among(&bytes).with_context(|| format!("cannot read the kernels of {}", executable.display()))
    }

    /// Those of the images in these bytes. The magic number is also in the code that compares with it, which is no image.
    fn among(bytes: &[u8]) -> Result<Self, ImageError> {
        let (mut all, mut other_version) = (Vec::<Kernel>::new(), None);
        let mut rest = bytes;
        while let Some(at) = find(rest, MAGIC) {
            match Image::parse(&rest[at..]) {
                Ok(image) => {
                    let kernels = &image.manifest().kernels;
                    let new =
                        |kernel: &&gpukernel_image::Kernel| all.iter().all(|known| known.name != kernel.name);
                    let new: Vec<_> = kernels.iter().filter(new).cloned().collect();
                    all.extend(new.into_iter().map(Kernel::from));
                }
                // Versions are small numbers, which no image has by chance.
                Err(error @ ImageError::Version { found: ..1000, .. }) => other_version = Some(error),
                Err(_) => {}
            }
            rest = &rest[at + MAGIC.len()..];
        }
        match other_version.filter(|_| all.is_empty()) {
            Some(error) => Err(error),
            None => Ok(Self { all }),
        }
    }

    /// The kernel that a name on the command line means.
    pub(crate) fn find(&self, wanted: &str) -> anyhow::Result<&Kernel> {
        let names: Vec<_> = self.all.iter().map(|kernel| kernel.name.as_str()).collect();
        anyhow::ensure!(
            !names.is_empty(),
            "there is no kernel `{wanted}`: no image of kernels is embedded in the program by `gpukernel::image!`"
        );
        Ok(&self.all[kernel_name::find(wanted, &names)?])
    }

    /// The kernel whose code has this name.
    pub(crate) fn of_symbol(&self, symbol: &str) -> Option<&Kernel> {
        self.all.iter().find(|kernel| kernel.symbol == symbol)
    }
}

impl From<gpukernel_image::Kernel> for Kernel {
    fn from(kernel: gpukernel_image::Kernel) -> Self {
        // `fn kernels::saxpy of "kernels" "0.1.0"`.
        let line = kernel.signature.get(1).and_then(|line| line.strip_prefix("fn ")?.split_once(" of "));
        let function = line.map_or_else(|| kernel.name.clone(), |(path, _)| path.to_owned());
        Self { name: kernel.name, symbol: kernel.symbol, function }
    }
}

/// Where these bytes begin for the first time.
fn find(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    let mut start = 0;
    loop {
        let first = wanted.first()?;
        let at = start + bytes.get(start..)?.iter().position(|byte| byte == first)?;
        if bytes[at..].starts_with(wanted) {
            return Some(at);
        }
        start = at + 1;
    }
}

#[cfg(test)]
mod tests {
    use gpukernel_image::{Contract, ImageWriter, Manifest};

    use super::*;

    fn image(names: &[&str]) -> Vec<u8> {
        let mut manifest = Manifest::new("kernels");
        manifest.kernels = names
            .iter()
            .map(|name| gpukernel_image::Kernel {
                name: format!("kernels::{name}"),
                symbol: (*name).to_owned(),
                parameters: Vec::new(),
                signature: vec![String::new(), format!("fn kernels::of_{name} of \"kernels\" \"0.1.0\"")],
                contract: Contract::NONE,
                cooperative: false,
                resources: Default::default(),
                waits: Default::default(),
            })
            .collect();
        ImageWriter::new(manifest).finish()
    }

    #[test]
    fn kernels_are_those_of_all_images_in_a_program() {
        let bytes =
            [b"ELF gpukimg\0 no image g", &image(&["a", "b"])[..], b"gpuk", &image(&["b", "c"])].concat();
        let kernels = Kernels::among(&bytes).unwrap();
        let names: Vec<_> = kernels.all.iter().map(|kernel| kernel.name.as_str()).collect();
        assert_eq!(names, ["kernels::a", "kernels::b", "kernels::c"]);
        assert_eq!(kernels.of_symbol("c"), kernels.all.last());
        let found = kernels.find("b").unwrap();
        assert_eq!((found.symbol.as_str(), found.function.as_str()), ("b", "kernels::of_b"));
        assert!(kernels.find("kernels::x").is_err());
    }

    #[test]
    fn a_program_without_images_has_no_kernels() {
        let error = Kernels::among(b"gpukimg").unwrap().find("saxpy").unwrap_err().to_string();
        assert!(error.contains("no image of kernels is embedded"), "{error}");
    }
}
