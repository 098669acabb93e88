//! Machine code that a user brings: what would make nvlink fail with less to say, or take nothing from it in silence.

use std::{fs, path::Path, process::Command};

use gpukernel_image::Arch;
use object::{
    Architecture, BinaryFormat, FileKind, Object, ObjectSection, endian::LittleEndian,
    read::archive::ArchiveFile, read::elf::FileHeader,
};

use super::ForeignError;

/// The section in which nvcc keeps relocatable device code in objects of the host's compiler, and that for code linked already.
const RELOCATABLE: &str = "__nv_relfatbin";
const LINKED: &str = ".nv_fatbin";

/// Checks a cubin, fatbin, object or library.
pub(super) fn check(file: &Path, archs: &[Arch]) -> Result<(), ForeignError> {
    let bytes = fs::read(file).map_err(|reason| ForeignError::File { path: file.to_owned(), reason })?;
    let unusable =
        |problem: &str| ForeignError::Unusable { file: file.to_owned(), problem: problem.to_owned() };
    if file.extension().is_some_and(|extension| extension == "a") {
        let archive = ArchiveFile::parse(bytes.as_slice()).map_err(|error| unusable(&error.to_string()))?;
        let mut any = false;
        for member in archive.members() {
            let data = member.and_then(|member| member.data(bytes.as_slice()));
            any |= data.is_ok_and(|data| matches!(look(data), Found::Relocatable));
        }
        return if any { Ok(()) } else { Err(unusable(NO_DEVICE_CODE)) };
    }
    match look(&bytes) {
        Found::Relocatable => Ok(()),
        Found::Cubin { relocatable: false, .. } | Found::LinkedObject => Err(unusable(NOT_RELOCATABLE)),
        Found::Cubin { arch: Some(found), .. }
            if !archs.iter().all(|arch| found.machine_code_runs_on(*arch)) =>
        {
            let wanted = archs.iter().copied().filter(|arch| !found.machine_code_runs_on(*arch)).collect();
            Err(ForeignError::OtherArch { file: file.to_owned(), found, wanted })
        }
        Found::Cubin { .. } => Ok(()),
        Found::ThirtyTwoBit => Err(unusable(
            "it is a 32-bit object, and device code has 64-bit addresses: compile it with `-m64`",
        )),
        Found::HostObject => Err(unusable(NO_DEVICE_CODE)),
        // What it is worth, nvlink knows.
        Found::Unknown => Ok(()),
    }
}

const NO_DEVICE_CODE: &str =
    "it holds no device code that can be linked. Compile it with `nvcc -dc`, and functions as `__device__`";
const NOT_RELOCATABLE: &str = "its device code was linked already, and keeps its functions to itself. Compile it with `nvcc -dc` (or `-rdc=true`)";

enum Found {
    Relocatable,
    LinkedObject,
    Cubin { arch: Option<Arch>, relocatable: bool },
    ThirtyTwoBit,
    HostObject,
    Unknown,
}

fn look(bytes: &[u8]) -> Found {
    if let Some((arch, relocatable)) = cubin(bytes) {
        return Found::Cubin { arch, relocatable };
    }
    if FileKind::parse(bytes) == Ok(FileKind::Elf32) {
        return Found::ThirtyTwoBit;
    }
    let Ok(object) = object::File::parse(bytes) else { return Found::Unknown };
    if object.format() != BinaryFormat::Elf || object.architecture() == Architecture::Unknown {
        return Found::Unknown;
    }
    let has = |wanted: &str| object.sections().any(|section| section.name() == Ok(wanted));
    if has(RELOCATABLE) {
        Found::Relocatable
    } else if has(LINKED) {
        Found::LinkedObject
    } else {
        Found::HostObject
    }
}

/// The architecture of a cubin, and whether it can be linked.
fn cubin(bytes: &[u8]) -> Option<(Option<Arch>, bool)> {
    let header = object::elf::FileHeader64::<LittleEndian>::parse(bytes).ok()?;
    if header.e_machine(LittleEndian) != object::elf::EM_CUDA {
        return None;
    }
    // As the tools of CUDA 13 write it (ABI version 8); earlier ones had it in the lowest byte.
    let flags = header.e_flags(LittleEndian).0;
    let number = if header.e_ident.abi_version >= 8 { flags >> 8 & 0xff } else { flags & 0xff };
    let relocatable = header.e_type(LittleEndian) == object::elf::ET_REL;
    Some(((number >= 50).then(|| Arch::new((number / 10) as u16, (number % 10) as u16)), relocatable))
}

/// The functions that a file defines, as cuobjdump lists them; none if it cannot.
pub(crate) fn functions(cuobjdump: &Path, file: &Path) -> Vec<String> {
    let Ok(output) = Command::new(cuobjdump).arg("--dump-elf-symbols").arg(file).output() else {
        return Vec::new();
    };
    parse_symbols(&String::from_utf8_lossy(&output.stdout))
}

/// Reads `STT_FUNC         STB_GLOBAL STV_DEFAULT    look`; an undefined symbol has a `U` before its name.
fn parse_symbols(text: &str) -> Vec<String> {
    let functions = text.lines().filter_map(|line| {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words[..] {
            ["STT_FUNC", "STB_GLOBAL" | "STB_WEAK", _, name] => Some(name.to_owned()),
            _ => None,
        }
    });
    let mut functions: Vec<_> = functions.collect();
    functions.sort();
    functions.dedup();
    functions
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_are_those_defined_for_others() {
        let text = "symbols:\n\
            STT_OBJECT       STB_WEAK   STV_DEFAULT  U __UDT\n\
            STT_CUDA_OBJECT  STB_GLOBAL STO_CONSTANT   table\n\
            STT_FUNC         STB_GLOBAL STV_DEFAULT    look\n\
            STT_FUNC         STB_LOCAL  STV_DEFAULT    hidden\n\
            STT_FUNC         STB_GLOBAL STV_DEFAULT  U missing\n";
        assert_eq!(parse_symbols(text), ["look"]);
    }
}
