//! Toolchains made of shell scripts, for tests.

use std::{
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
};

/// Compiles any program to one that does nothing.
const COMPILE: &str = "while [ $# -gt 0 ]; do if [ \"$1\" = -o ]; then echo '#!/bin/sh' > \"$2\"; chmod +x \"$2\"; exit 0; fi; \
                       shift; done; exit 1";

/// A folder that looks like a Rust toolchain.
pub(crate) struct FakeRustc {
    version: String,
    script: Option<String>,
    libllvm: Option<String>,
    core: bool,
    source: bool,
}

impl FakeRustc {
    /// One of this version, with LLVM 22.1.8 and nothing for the device.
    pub(crate) fn new(version: &str) -> Self {
        let libllvm = Some(format!("libLLVM.so.22.1-rust-{version}-stable"));
        Self { version: version.to_owned(), script: None, libllvm, core: false, source: false }
    }

    /// A program that does this instead of answering.
    pub(crate) fn script(script: &str) -> Self {
        Self { script: Some(script.to_owned()), ..Self::new("1.96.0") }
    }

    pub(crate) fn core(mut self) -> Self {
        self.core = true;
        self
    }

    pub(crate) fn source(mut self) -> Self {
        self.source = true;
        self
    }

    pub(crate) fn libllvm(mut self, name: &str) -> Self {
        self.libllvm = Some(name.to_owned());
        self
    }

    pub(crate) fn no_libllvm(mut self) -> Self {
        self.libllvm = None;
        self
    }

    /// Makes it in this folder and returns its rustc.
    pub(crate) fn install(self, root: &Path) -> PathBuf {
        let rustlib = root.join("lib/rustlib");
        std::fs::create_dir_all(&rustlib).unwrap();
        if let Some(name) = &self.libllvm {
            std::fs::write(root.join("lib").join(name), "\x7fELF").unwrap();
        }
        if self.core {
            let lib = rustlib.join("nvptx64-nvidia-cuda/lib");
            std::fs::create_dir_all(&lib).unwrap();
            for name in ["core", "alloc", "compiler_builtins"] {
                std::fs::write(lib.join(format!("lib{name}-0123456789abcdef.rlib")), "").unwrap();
            }
        }
        if self.source {
            let library = rustlib.join("src/rust/library");
            for file in ["Cargo.toml", "Cargo.lock", "core/Cargo.toml", "std/Cargo.toml"] {
                let file = library.join(file);
                std::fs::create_dir_all(file.parent().unwrap()).unwrap();
                std::fs::write(file, "").unwrap();
            }
        }
        let version = &self.version;
        let script = self.script.unwrap_or_else(|| {
            format!(
                "if [ \"$1\" = -vV ]; then cat <<END\nrustc {version} (0123456 2026-05-25)\nbinary: rustc\n\
                 commit-hash: 0123456789012345678901234567890123456789\ncommit-date: 2026-05-25\n\
                 host: x86_64-unknown-linux-gnu\nrelease: {version}\nLLVM version: 22.1.8\nEND\n\
                 elif [ \"$2\" = sysroot ]; then echo '{}'; else {COMPILE}; fi",
                root.display()
            )
        });
        program(&root.join("bin/rustc"), &script)
    }
}

/// Makes an executable shell script.
pub(crate) fn program(path: &Path, script: &str) -> PathBuf {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, format!("#!/bin/sh\n{script}\n")).unwrap();
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
    path.to_owned()
}
