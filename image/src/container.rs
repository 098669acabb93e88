//! The binary format of an image: a header, the manifest as JSON, then the code of each architecture.
//!
//! ```text
//! 0   8  magic "gpukimg\0"
//! 8   8  length of the index in bytes, little endian
//! 16  4  CRC-32 of the index, little endian
//! 20  4  version of the ABI ([`gpukernel_abi::VERSION`]), little endian
//! 24     the index: JSON of `Index`, which holds the manifest and where each piece of code is, with its CRC-32: drivers do not survive damaged
//!        machine code, and a program that starts reads no more of the file than the piece that it loads
//! …      the code, each piece aligned to 8 bytes from the start; PTX ends in a NUL as the driver wants it
//! ```

use std::{borrow::Cow, ops::Range};

use serde::{Deserialize, Serialize};

use crate::{Arch, Manifest};

const MAGIC: &[u8; 8] = b"gpukimg\0";
const CHECKSUM: Range<usize> = 16..20;
const VERSION: Range<usize> = 20..24;
const HEADER_BYTES: usize = 24;
const CODE_ALIGN: usize = 8;

/// The form of a piece of code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CodeKind {
    /// PTX, which the driver compiles for any later architecture.
    Ptx,
    /// A cubin: machine code of one architecture.
    Cubin,
}

/// The file type of a [`Part`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PartKind {
    /// PTX, which the driver compiles.
    Ptx,
    /// A cubin: relocatable machine code of one architecture.
    Cubin,
    /// A fatbin: code of several architectures.
    Fatbin,
    /// An object of the host's compiler that contains a fatbin.
    Object,
    /// A static library of such objects.
    Library,
}

#[derive(Serialize, Deserialize)]
struct Index<'a> {
    manifest: Cow<'a, Manifest>,
    code: Vec<CodeEntry>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    parts: Vec<PartEntry>,
}

#[derive(Serialize, Deserialize)]
struct PartEntry {
    kind: PartKind,
    name: String,
    #[serde(flatten)]
    piece: Piece,
}

#[derive(Clone, Copy, Serialize, Deserialize)]
struct CodeEntry {
    kind: CodeKind,
    arch: Arch,
    #[serde(flatten)]
    piece: Piece,
}

/// Where bytes are.
#[derive(Clone, Copy, Serialize, Deserialize)]
struct Piece {
    /// From the end of the index, rounded up to `CODE_ALIGN`.
    offset: usize,
    /// Of the compressed bytes.
    len: usize,
    /// Of the compressed bytes.
    checksum: u32,
    /// Before compression.
    unpacked_len: usize,
}

/// The compressed bytes of a [`Piece`].
#[derive(Clone, Copy, Debug)]
struct Packed<'a> {
    bytes: &'a [u8],
    checksum: u32,
    unpacked_len: usize,
}

impl Packed<'_> {
    fn unpack(&self) -> Result<Vec<u8>, ImageError> {
        verify(self.bytes, self.checksum)?;
        let no = |reason: String| ImageError::Compression(reason);
        // No byte of a block stands for more than 255.
        if self.unpacked_len / 255 > self.bytes.len() {
            return Err(no(format!("{} bytes are not in {}", self.unpacked_len, self.bytes.len())));
        }
        let mut unpacked = vec![0; self.unpacked_len];
        match lz4_flex::block::decompress_into(self.bytes, &mut unpacked) {
            Ok(len) if len == self.unpacked_len => Ok(unpacked),
            Ok(len) => Err(no(format!("there are {len} bytes, not {}", self.unpacked_len))),
            Err(error) => Err(no(error.to_string())),
        }
    }
}

/// An image could not be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ImageError {
    /// The bytes do not start as an image does.
    #[error("not a gpukernel image: it does not start with `gpukimg` and a zero byte")]
    Magic,
    /// The image was written by another version of gpukernel-build.
    #[error(
        "the gpukernel image has version {found}, and this program reads version {expected}: build the image with the gpukernel-build \
         of the same version as the runtime"
    )]
    Version {
        /// The version of the image.
        found: u32,
        /// The version that is read ([`gpukernel_abi::VERSION`]).
        expected: u32,
    },
    /// The bytes are truncated, or code is outside them.
    #[error(
        "the gpukernel image is truncated: {needed_bytes} bytes are needed, {found_bytes} are there; rebuild it"
    )]
    Truncated {
        /// Bytes according to the index.
        needed_bytes: usize,
        /// Bytes present.
        found_bytes: usize,
    },
    /// A checksum does not match: the bytes were changed.
    #[error("the gpukernel image is damaged: a checksum is {found:08x}, not {expected:08x}; rebuild it")]
    Checksum {
        /// The CRC-32 in the image.
        expected: u32,
        /// The CRC-32 of the bytes.
        found: u32,
    },
    /// Code cannot be decompressed.
    #[error("code of the gpukernel image cannot be decompressed: {0}; rebuild it")]
    Compression(String),
    /// The index is not valid JSON of this version.
    #[error(
        "the index of the gpukernel image cannot be read: {0}; rebuild it with the same gpukernel version"
    )]
    Index(String),
}

/// A parsed image in memory.
///
/// See the [crate example](crate).
#[derive(Clone, Debug)]
pub struct Image<'a> {
    manifest: Manifest,
    code: Vec<Code<'a>>,
    parts: Vec<Part<'a>>,
}

/// Code of other compilers that the driver links with the kernels' PTX when it compiles that. The kernels' machine code is already
/// linked with it.
#[derive(Clone, Debug)]
pub struct Part<'a> {
    /// The file type.
    pub kind: PartKind,
    /// The name of the source file.
    pub name: String,
    packed: Packed<'a>,
}

/// One piece of code in an image.
#[derive(Clone, Copy, Debug)]
pub struct Code<'a> {
    kind: CodeKind,
    arch: Arch,
    packed: Packed<'a>,
}

/// Compares bytes with the checksum that was stored with them.
fn verify(bytes: &[u8], expected: u32) -> Result<(), ImageError> {
    match crc32fast::hash(bytes) {
        found if found == expected => Ok(()),
        found => Err(ImageError::Checksum { expected, found }),
    }
}

impl<'a> Image<'a> {
    /// Parses an image. Its code is not read: [`Code::unpack`] and [`Part::unpack`] find damage there.
    ///
    /// # Errors
    /// [`ImageError`] if the bytes are not a complete image of this version.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, ImageError> {
        if bytes.len() < HEADER_BYTES || &bytes[..8] != MAGIC {
            return Err(ImageError::Magic);
        }
        let version = bytes[VERSION].try_into().map_or(0, u32::from_le_bytes);
        if version != gpukernel_abi::VERSION {
            return Err(ImageError::Version { found: version, expected: gpukernel_abi::VERSION });
        }
        let mut length = [0; 8];
        length.copy_from_slice(&bytes[8..CHECKSUM.start]);
        let slice = |start: usize, len: usize| {
            let end = start.saturating_add(len);
            bytes.get(start..end).ok_or(ImageError::Truncated { needed_bytes: end, found_bytes: bytes.len() })
        };
        let index_len = usize::try_from(u64::from_le_bytes(length)).unwrap_or(usize::MAX);
        let index = slice(HEADER_BYTES, index_len)?;
        verify(index, bytes[CHECKSUM].try_into().map_or(0, u32::from_le_bytes))?;
        let index: Index<'_> =
            serde_json::from_slice(index).map_err(|error| ImageError::Index(error.to_string()))?;
        let code_start = (HEADER_BYTES + index_len).next_multiple_of(CODE_ALIGN);
        let packed = |Piece { offset, len, checksum, unpacked_len }: Piece| {
            let bytes = slice(code_start.saturating_add(offset), len)?;
            Ok(Packed { bytes, checksum, unpacked_len })
        };
        let code = index
            .code
            .iter()
            .map(|entry| Ok(Code { kind: entry.kind, arch: entry.arch, packed: packed(entry.piece)? }))
            .collect::<Result<_, ImageError>>()?;
        let parts = index
            .parts
            .into_iter()
            .map(|PartEntry { kind, name, piece }| Ok(Part { kind, name, packed: packed(piece)? }))
            .collect::<Result<_, ImageError>>()?;
        Ok(Self { manifest: index.manifest.into_owned(), code, parts })
    }

    /// The metadata of the image.
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// The metadata of the image, without the code.
    pub fn into_manifest(self) -> Manifest {
        self.manifest
    }

    /// All pieces of code: machine code before PTX, each by architecture.
    pub fn code(&self) -> &[Code<'a>] {
        &self.code
    }

    /// Returns the code to load on a device: that of the highest architecture that runs there, machine code if there is some, else PTX.
    pub fn code_for(&self, device: Arch) -> Option<Code<'a>> {
        let runs = |code: &&Code<'_>| match code.kind {
            CodeKind::Ptx => code.arch.ptx_runs_on(device),
            CodeKind::Cubin => code.arch.machine_code_runs_on(device),
        };
        self.code.iter().filter(runs).max_by_key(|code| (code.arch, code.kind)).copied()
    }

    /// The code to link the PTX with, in order.
    pub fn parts(&self) -> &[Part<'a>] {
        &self.parts
    }
}

impl Part<'_> {
    /// Returns the bytes. PTX ends in a NUL, as the driver requires.
    ///
    /// # Errors
    /// [`ImageError::Checksum`] if the image was changed, [`ImageError::Compression`] if it was not written by [`ImageWriter`].
    pub fn unpack(&self) -> Result<Vec<u8>, ImageError> {
        self.packed.unpack()
    }
}

impl Code<'_> {
    /// Returns the bytes. PTX ends in a NUL, as the driver requires.
    ///
    /// # Errors
    /// [`ImageError::Checksum`] if the image was changed, [`ImageError::Compression`] if it was not written by [`ImageWriter`].
    pub fn unpack(&self) -> Result<Vec<u8>, ImageError> {
        self.packed.unpack()
    }

    /// The form of the code.
    pub fn kind(&self) -> CodeKind {
        self.kind
    }

    /// The architecture that it was compiled for.
    pub fn arch(&self) -> Arch {
        self.arch
    }

    /// Returns the text of PTX without the NUL; empty for machine code.
    ///
    /// # Errors
    /// As [`Self::unpack`].
    pub fn text(&self) -> Result<String, ImageError> {
        if self.kind != CodeKind::Ptx {
            return Ok(String::new());
        }
        let mut bytes = self.unpack()?;
        bytes.pop_if(|last| *last == 0);
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }
}

/// Assembles an image.
///
/// See the [crate example](crate).
#[derive(Clone, Debug)]
pub struct ImageWriter {
    manifest: Manifest,
    code: Vec<(CodeKind, Arch, Vec<u8>)>,
    parts: Vec<(PartKind, String, Vec<u8>)>,
}

impl ImageWriter {
    /// Creates a writer with a manifest and no code.
    pub fn new(manifest: Manifest) -> Self {
        Self { manifest, code: Vec::new(), parts: Vec::new() }
    }

    /// Adds PTX for `arch`.
    pub fn add_ptx(&mut self, arch: Arch, text: &str) {
        let mut bytes = text.as_bytes().to_vec();
        bytes.push(0);
        self.code.push((CodeKind::Ptx, arch, bytes));
    }

    /// Adds machine code for `arch`.
    pub fn add_cubin(&mut self, arch: Arch, bytes: Vec<u8>) {
        self.code.push((CodeKind::Cubin, arch, bytes));
    }

    /// Adds code to link the PTX with; `name` is that of its source file.
    pub fn add_part(&mut self, kind: PartKind, name: &str, mut bytes: Vec<u8>) {
        if kind == PartKind::Ptx {
            bytes.push(0);
        }
        self.parts.push((kind, name.to_owned(), bytes));
    }

    /// Returns the bytes of the image: the same for the same inputs, independent of the order in which code was added. Parts keep their
    /// order.
    pub fn finish(mut self) -> Vec<u8> {
        self.manifest.kernels.sort_by(|a, b| a.name.cmp(&b.name));
        self.code.sort_by(|a, b| (b.0, a.1).cmp(&(a.0, b.1)));
        let (mut end, mut all_packed) = (0, Vec::new());
        let mut place = |bytes: &[u8]| {
            let packed = lz4_flex::block::compress(bytes);
            let (offset, len, checksum) = (end, packed.len(), crc32fast::hash(&packed));
            end = (offset + len).next_multiple_of(CODE_ALIGN);
            all_packed.push(packed);
            Piece { offset, len, checksum, unpacked_len: bytes.len() }
        };
        let code = self.code.iter();
        let code =
            code.map(|(kind, arch, bytes)| CodeEntry { kind: *kind, arch: *arch, piece: place(bytes) });
        let code = code.collect();
        let parts = self.parts.iter();
        let parts = parts.map(|(kind, name, bytes)| PartEntry {
            kind: *kind,
            name: name.clone(),
            piece: place(bytes),
        });
        let index = Index { code, parts: parts.collect(), manifest: Cow::Borrowed(&self.manifest) };
        let index =
            serde_json::to_vec(&index).expect("strings, numbers and string-keyed maps are always JSON");

        let mut image = MAGIC.to_vec();
        image.extend((index.len() as u64).to_le_bytes());
        image.resize(HEADER_BYTES, 0);
        image[CHECKSUM].copy_from_slice(&crc32fast::hash(&index).to_le_bytes());
        image[VERSION].copy_from_slice(&gpukernel_abi::VERSION.to_le_bytes());
        image.extend(index);
        for packed in all_packed {
            image.resize(image.len().next_multiple_of(CODE_ALIGN), 0);
            image.extend(packed);
        }
        image
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn image() -> Vec<u8> {
        let mut writer = ImageWriter::new(Manifest::new("demo"));
        writer.add_ptx(Arch::new(7, 5), ".version 6.3");
        writer.add_cubin(Arch::new(8, 0), vec![1; 13]);
        writer.add_cubin(Arch::new(9, 0), vec![2; 7]);
        writer.finish()
    }

    #[test]
    fn picks_the_best_code_for_a_device() {
        let bytes = image();
        let image = Image::parse(&bytes).unwrap();
        assert_eq!(image.code_for(Arch::new(8, 6)).unwrap().unpack().unwrap(), [1; 13]);
        assert_eq!(image.code_for(Arch::new(9, 0)).unwrap().unpack().unwrap(), [2; 7]);
        assert_eq!(image.code_for(Arch::new(10, 0)).unwrap().text().unwrap(), ".version 6.3");
        assert!(image.code_for(Arch::new(7, 0)).is_none());
    }

    /// Which has what the other lacks: a cluster, say.
    #[test]
    fn ptx_of_a_higher_architecture_is_better_than_machine_code_of_a_lower_one() {
        let mut writer = ImageWriter::new(Manifest::new("demo"));
        for arch in [Arch::new(8, 0), Arch::new(8, 9)] {
            writer.add_ptx(arch, &format!(".target {arch}"));
        }
        writer.add_cubin(Arch::new(8, 0), vec![1; 13]);
        let bytes = writer.finish();
        let image = Image::parse(&bytes).unwrap();
        assert_eq!(image.code_for(Arch::new(8, 0)).unwrap().kind(), CodeKind::Cubin);
        assert_eq!(image.code_for(Arch::new(8, 7)).unwrap().kind(), CodeKind::Cubin);
        assert_eq!(image.code_for(Arch::new(8, 9)).unwrap().text().unwrap(), ".target sm_89");
        assert_eq!(image.code_for(Arch::new(9, 0)).unwrap().text().unwrap(), ".target sm_89");
    }

    #[test]
    fn order_of_adding_does_not_change_the_bytes() {
        let mut writer = ImageWriter::new(Manifest::new("demo"));
        writer.add_cubin(Arch::new(9, 0), vec![2; 7]);
        writer.add_cubin(Arch::new(8, 0), vec![1; 13]);
        writer.add_ptx(Arch::new(7, 5), ".version 6.3");
        assert_eq!(writer.finish(), image());
    }

    #[test]
    fn parts_come_back_in_order() {
        let mut writer = ImageWriter::new(Manifest::new("demo"));
        writer.add_ptx(Arch::new(7, 5), ".version 6.3");
        writer.add_part(PartKind::Ptx, "z.cu", b".func z".to_vec());
        writer.add_part(PartKind::Object, "a.o", vec![7; 3]);
        let bytes = writer.finish();
        let image = Image::parse(&bytes).unwrap();
        let parts: Vec<_> = image
            .parts()
            .iter()
            .map(|part| (part.kind, part.name.as_str(), part.unpack().unwrap()))
            .collect();
        assert_eq!(
            parts,
            [(PartKind::Ptx, "z.cu", b".func z\0".to_vec()), (PartKind::Object, "a.o", vec![7; 3])]
        );
        assert_eq!(image.code_for(Arch::new(9, 0)).unwrap().text().unwrap(), ".version 6.3");
    }

    #[test]
    fn every_truncation_is_an_error() {
        let bytes = image();
        for len in 0..bytes.len() {
            assert!(Image::parse(&bytes[..len]).is_err(), "{len} bytes");
        }
        assert_eq!(Image::parse(b"gpukimg3................").unwrap_err(), ImageError::Magic);
    }

    #[test]
    fn an_image_of_another_version_says_so() {
        let mut bytes = image();
        bytes[VERSION].copy_from_slice(&u32::MAX.to_le_bytes());
        let error = Image::parse(&bytes).unwrap_err();
        assert_eq!(error, ImageError::Version { found: u32::MAX, expected: gpukernel_abi::VERSION });
        assert!(
            error.to_string().contains("has version 4294967295, and this program reads version"),
            "{error}"
        );
    }

    #[test]
    fn every_changed_bit_is_an_error() {
        let bytes = image();
        let pieces: Vec<_> =
            Image::parse(&bytes).unwrap().code().iter().map(|code| code.packed.bytes.to_vec()).collect();
        for at in 0..bytes.len() {
            for bit in 0..8 {
                let mut changed = bytes.clone();
                changed[at] ^= 1 << bit;
                let Ok(image) = Image::parse(&changed) else { continue };
                let is_found = image.code().iter().any(|code| code.unpack().is_err());
                // Between pieces of code.
                let is_padding = image.code().iter().map(|code| code.packed.bytes).eq(&pieces);
                assert!(is_found != is_padding, "bit {bit} of byte {at}");
            }
        }
    }

    #[test]
    fn what_is_damaged_is_told() {
        let mut bytes = image();
        let last = bytes.len() - 1;
        bytes[last] ^= 1;
        let image = Image::parse(&bytes).unwrap();
        let error = image.code().iter().find_map(|code| code.unpack().err()).unwrap();
        assert!(matches!(error, ImageError::Checksum { .. }), "{error}");
        assert!(error.to_string().contains("is damaged"), "{error}");
    }

    /// A hundred kernels have much in common, of which a program that starts on another GPU, or on none, needs nothing.
    #[test]
    fn code_is_compressed() {
        let code = b"the same again and again".repeat(1000);
        let mut writer = ImageWriter::new(Manifest::new("demo"));
        writer.add_cubin(Arch::new(8, 0), code.clone());
        let bytes = writer.finish();
        assert!(bytes.len() < code.len() / 10, "{}", bytes.len());
        assert_eq!(Image::parse(&bytes).unwrap().code()[0].unpack().unwrap(), code);
    }

    #[test]
    fn other_lengths_than_those_of_the_code_are_errors() {
        let packed = lz4_flex::block::compress(&[3; 100_000]);
        let (bytes, checksum) = (&packed[..], crc32fast::hash(&packed));
        for unpacked_len in [0, 1, 99_999, 100_001, 1 << 40, usize::MAX] {
            let error = Packed { bytes, checksum, unpacked_len }.unpack().unwrap_err();
            assert!(error.to_string().contains("cannot be decompressed"), "{error}");
        }
        assert_eq!(Packed { bytes, checksum, unpacked_len: 100_000 }.unpack().unwrap(), [3; 100_000]);
    }

    #[test]
    fn absurd_lengths_are_errors() {
        let mut bytes = image();
        bytes[8..16].copy_from_slice(&u64::MAX.to_le_bytes());
        assert!(matches!(Image::parse(&bytes), Err(ImageError::Truncated { .. })));
    }
}
