//! The C header of the functions that a kernel crate gives to CUDA C++: by cbindgen, from the crate's sources.

use std::{fs, path::Path};

use crate::Error;

/// gpu-std's types by the names that CUDA has for them.
const CUDA_TYPES: [(&str, &str); 12] = [
    ("f32x2", "float2"),
    ("f32x3", "float3"),
    ("f32x4", "float4"),
    ("f64x2", "double2"),
    ("f64x3", "double3"),
    ("i32x2", "int2"),
    ("i32x3", "int3"),
    ("i32x4", "int4"),
    ("u32x2", "uint2"),
    ("u32x3", "uint3"),
    ("u32x4", "uint4"),
    ("Dim3", "dim3"),
];

/// Writes the header of the functions in these files.
pub(crate) fn write(sources: &[&Path], crate_name: &str, target: &Path) -> Result<(), Error> {
    let failed = |reason: String| Error::Header { file: target.to_owned(), reason };
    let mut config = cbindgen::Config {
        language: cbindgen::Language::C,
        cpp_compat: true,
        pragma_once: true,
        no_includes: true,
        sys_includes: vec!["stdbool.h".into(), "stddef.h".into(), "stdint.h".into()],
        header: Some(format!(
            "// Functions of the Rust crate `{crate_name}`. Made by gpukernel: not to be changed by hand."
        )),
        style: cbindgen::Style::Both,
        ..Default::default()
    };
    config.function.prefix = Some("__device__".into());
    for (ours, theirs) in CUDA_TYPES {
        config.export.rename.insert(ours.into(), theirs.into());
    }
    let mut builder = cbindgen::Builder::new().with_config(config);
    // cbindgen takes functions that have a name for C, which those of `#[device(export)]` get from the macro.
    let folder = target.with_extension("rs.d");
    for (index, source) in sources.iter().enumerate() {
        let text = fs::read_to_string(source)
            .map_err(|reason| Error::File { path: source.to_path_buf(), reason })?;
        let copy = folder.join(format!("{index}.rs"));
        fs::create_dir_all(&folder)
            .and_then(|()| fs::write(&copy, with_names(&text)))
            .map_err(|reason| Error::File { path: copy.clone(), reason })?;
        builder = builder.with_src(copy);
    }
    let bindings = builder.generate().map_err(|error| failed(error.to_string()))?;
    let mut text = Vec::new();
    bindings.write(&mut text);
    fs::write(target, text).map_err(|reason| Error::File { path: target.to_owned(), reason })?;
    fs::remove_dir_all(&folder).map_err(|reason| Error::File { path: folder, reason })
}

/// The source with `#[unsafe(no_mangle)]` in place of `#[device(export)]`.
fn with_names(source: &str) -> String {
    let mut text = String::new();
    let mut rest = source;
    while let Some(at) = rest.find("#[") {
        let (before, attribute) = rest.split_at(at);
        text.push_str(before);
        let Some(end) = attribute.find(']') else { break };
        let inside: String = attribute[2..end].chars().filter(|c| !c.is_whitespace()).collect();
        let is_export = ["device(export)", "gpu_std::device(export)", "::gpu_std::device(export)"];
        text.push_str(if is_export.contains(&inside.as_str()) {
            "#[unsafe(no_mangle)]"
        } else {
            &attribute[..=end]
        });
        rest = &attribute[end + 1..];
    }
    text.push_str(rest);
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_and_their_structs() {
        let dir = tempfile::tempdir().unwrap();
        let (source, target) = (dir.path().join("lib.rs"), dir.path().join("shading.h"));
        fs::write(
            &source,
            "/// A colour.\n#[repr(C)] pub struct Rgb { r: f32, g: f32, b: f32 }\n\
             /// How bright it is.\n#[gpu_std::device( export )] pub extern \"C\" fn luminance(colour: Rgb, by: f32x4) -> f32 { 0.0 }\n\
             pub extern \"C\" fn hidden() {}",
        )
        .unwrap();
        write(&[&source], "shading", &target).unwrap();
        let text = fs::read_to_string(&target).unwrap();
        assert!(text.contains("__device__ float luminance(struct Rgb colour, float4 by);"), "{text}");
        assert!(text.contains("typedef struct Rgb {") && text.contains("extern \"C\""), "{text}");
        assert!(text.contains("How bright it is.") && !text.contains("hidden"), "{text}");
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 2);
    }
}
