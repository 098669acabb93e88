//! Programs on their way to another machine: their code, and what they compute.

use std::{
    fs,
    io::{Read, Write},
    ops::Range,
    path::Path,
};

use gpukernel_image::{CodeKind, Image, ImageWriter, Kernel, Manifest};
use lzma_rust2::{LzmaOptions, LzmaReader, LzmaWriter};
use program_generator::Kind;
use program_reference::Outcome;
use serde::{Deserialize, Serialize};

use crate::{Error, ptx::Pieces};

/// A batch of programs.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Batch {
    /// Their seeds.
    pub seeds: Range<u64>,
    /// What each computes in each case.
    pub expected: Vec<Vec<Outcome>>,
    /// Their code, by how it was compiled.
    pub code: Vec<Code>,
}

/// The code of a batch.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Code {
    /// Whether it is a dev build: with checks for overflow, and with messages of panics.
    pub dev: bool,
    /// What the image says about it.
    pub manifest: Manifest,
    /// The architecture of the PTX.
    pub arch: String,
    /// All kernels.
    pub ptx: String,
}

impl Code {
    /// That of an image with PTX.
    ///
    /// # Errors
    /// The bytes are no image.
    pub fn of_image(bytes: &[u8], dev: bool) -> Result<Self, Error> {
        let image = Image::parse(bytes)?;
        let ptx = image.code().iter().find(|code| code.kind() == CodeKind::Ptx);
        Ok(Self {
            dev,
            manifest: image.manifest().clone(),
            arch: ptx.map(|ptx| ptx.arch().to_string()).unwrap_or_default(),
            ptx: match ptx {
                Some(ptx) => Pieces::new(&ptx.text()?).all(),
                None => String::new(),
            },
        })
    }

    /// An image with one program, whose kernel has this signature on the host; with its PTX, or with machine code in place of that.
    ///
    /// # Errors
    /// The architecture has no name of one.
    pub fn image_of(&self, number: usize, host: &str, code: Machine<'_>) -> Result<Vec<u8>, Error> {
        let arch = |name: &str| {
            name.parse().map_err(|_| Error::NotABatch {
                path: "code".into(),
                reason: format!("no architecture {name}"),
            })
        };
        let mut writer = ImageWriter::new(only(&self.manifest, number, host));
        match code {
            Machine::Ptx(text) => writer.add_ptx(arch(&self.arch)?, text),
            Machine::Cubin(arch_name, bytes) => writer.add_cubin(arch(arch_name)?, bytes.to_vec()),
        }
        Ok(writer.finish())
    }
}

/// An image with one program of those in another, whose kernel has this signature on the host, and all of its code.
///
/// # Errors
/// The bytes are no image.
pub fn image_of_one(bytes: &[u8], number: usize, host: &str) -> Result<Vec<u8>, Error> {
    let image = Image::parse(bytes)?;
    let mut writer = ImageWriter::new(only(image.manifest(), number, host));
    for code in image.code() {
        match code.kind() {
            CodeKind::Ptx => writer.add_ptx(code.arch(), &code.text()?),
            CodeKind::Cubin => writer.add_cubin(code.arch(), code.unpack()?),
        }
    }
    Ok(writer.finish())
}

/// A manifest with one program, whose kernel has this signature on the host. Path, package and function are the host's, where one kernel
/// runs all programs of a kind; what is required and the parameters stay those of the image, for the runtime to compare.
fn only(manifest: &Manifest, number: usize, host: &str) -> Manifest {
    let symbol = symbol(number);
    let mut host = host.lines();
    let name = host.next().unwrap_or_default();
    let identity: Vec<&str> = host.take(2).collect();
    let kernels = manifest.kernels.iter().filter(|kernel| kernel.symbol == symbol).map(|kernel| {
        let rest = kernel.signature.iter().skip(identity.len()).map(String::as_str);
        let signature = identity.iter().copied().chain(rest).map(str::to_owned).collect();
        Kernel { name: name.to_owned(), signature, ..kernel.clone() }
    });
    Manifest { kernels: kernels.collect(), ..manifest.clone() }
}

/// The code of an image.
#[derive(Clone, Copy, Debug)]
pub enum Machine<'a> {
    /// For the driver's compiler.
    Ptx(&'a str),
    /// For an architecture, by ptxas.
    Cubin(&'a str, &'a [u8]),
}

/// The name of a program's kernel in PTX, by its place in the batch.
pub fn symbol(number: usize) -> String {
    format!("k{number}")
}

impl Batch {
    /// The kind of a program, by its place.
    pub fn kind(&self, number: usize) -> Kind {
        Kind::of(self.seeds.start + number as u64)
    }

    /// Writes it to a file, whole or not at all.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn write(&self, path: &Path) -> Result<(), Error> {
        let partial = path.with_extension("partial");
        let written = || {
            let file = fs::File::create(&partial)?;
            // Higher ones take as long as the compiler, for a fifth less.
            let mut options = LzmaOptions::with_preset(3);
            options.dict_size = 1 << 26;
            let mut writer = LzmaWriter::new_use_header(file, &options, None)?;
            writer.write_all(&serde_json::to_vec(self)?)?;
            writer.finish()?;
            fs::rename(&partial, path)
        };
        written().map_err(Error::file(path))
    }

    /// Reads one.
    ///
    /// # Errors
    /// The file cannot be read, or is no batch.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let file = fs::File::open(path).map_err(Error::file(path))?;
        let not_a_batch = |reason: String| Error::NotABatch { path: path.to_owned(), reason };
        let mut bytes = Vec::new();
        LzmaReader::new_mem_limit(std::io::BufReader::new(file), 1 << 20, None)
            .and_then(|mut reader| reader.read_to_end(&mut bytes))
            .map_err(|error| not_a_batch(error.to_string()))?;
        serde_json::from_slice(&bytes).map_err(|error| not_a_batch(error.to_string()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_holds_what_was_written_or_is_refused() {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let path = folder.path().join("batch.fuzz");
        let expected = vec![vec![Outcome::Computed(u64::MAX), Outcome::Failed("no".to_owned())]];
        let batch = Batch { seeds: 7..8, expected: expected.clone(), code: Vec::new() };
        batch.write(&path).expect("the folder is ours");
        let read = Batch::read(&path).expect("it was just written");
        assert_eq!((read.seeds, read.expected), (7..8, expected));

        let mut bytes = fs::read(&path).expect("it was just written");
        bytes.truncate(bytes.len() / 2);
        fs::write(&path, bytes).expect("the folder is ours");
        assert!(matches!(Batch::read(&path), Err(Error::NotABatch { .. })));
        assert!(matches!(Batch::read(folder.path()), Err(Error::NotABatch { .. } | Error::File { .. })));
    }
}
