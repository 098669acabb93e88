//! The kernels of a program, read from the images that are embedded in its executable.

use std::{fs, path::Path};

use anyhow::Context;
use gpukernel_image::{Image, ImageError};

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
                    all.extend(
                        new.into_iter().map(|kernel| Kernel { name: kernel.name, symbol: kernel.symbol }),
                    );
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

    /// The kernel whose code has this name.
    pub(crate) fn of_symbol(&self, symbol: &str) -> Option<&Kernel> {
        self.all.iter().find(|kernel| kernel.symbol == symbol)
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
                signature: Vec::new(),
                contract: Contract::NONE,
                cooperative: false,
                resources: Default::default(),
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
    }
}
