//! Launches of programs, through the kernels that a crate has on the host.

use gpukernel::{Device, Image, Module, Result};
use gpukernel_image::{ImageWriter, Manifest};
use program_generator::Kind;

use crate::case::{ATOMICS, Case, FROM_COLUMNS};

/// The kernels of a crate of programs: they name the kernels of the device, and run on the host.
pub trait Kernels {
    /// The signature of the kernel that runs programs of a kind; its first line is the kernel's path.
    fn signature(kind: Kind) -> String;

    /// Launches a program, and gives what it wrote.
    ///
    /// # Errors
    /// What the runtime says, such as that the kernel panicked.
    fn launch(module: &Module, kind: Kind, program: u32, case: &Case) -> Result<Vec<u64>>;
}

/// The kernels of any crate on the CPU: they are in the program.
///
/// # Errors
/// What the runtime says.
pub fn load_on_cpu() -> Result<Module> {
    let mut manifest = Manifest::new("programs");
    manifest.no_code = Some("it is for the CPU".to_owned());
    // SAFETY: it holds no code.
    let image = unsafe { Image::from_bytes(ImageWriter::new(manifest).finish()) };
    Device::cpu().load(&image)
}

/// Implements [`Kernels`] for a type that stands for a crate.
#[macro_export]
macro_rules! kernels {
    ($(#[$doc:meta])* $name:ident of $programs:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug)]
        pub struct $name;

        impl $crate::Kernels for $name {
            fn signature(kind: ::program_generator::Kind) -> String {
                fn signature<K: ::gpu_std::host::Kernel>(_: K) -> String {
                    K::INFO.signature.to_string()
                }
                match kind.kernel() {
                    "slices" => signature($programs::slices),
                    "matrix" => signature($programs::matrix),
                    "atomics" => signature($programs::atomics),
                    "block" => signature($programs::block),
                    "collective" => signature($programs::collective),
                    _ => signature($programs::plain),
                }
            }

            fn launch(
                module: &::gpukernel::Module,
                kind: ::program_generator::Kind,
                program: u32,
                case: &$crate::Case,
            ) -> ::gpukernel::Result<Vec<u64>> {
                let data = $crate::launch::Data::new(module.device(), kind, case)?;
                let $crate::launch::Data { inputs, words, bytes, shorts, doubles, mut out, mut sums, mut wide, mut signed } = data;
                let grid = case.grid;
                match kind.kernel() {
                    "slices" => module.launch(
                        $programs::slices,
                        grid,
                        (program, &inputs, &words, &bytes, &shorts, &doubles, &mut out),
                    )?,
                    "matrix" => module.launch(
                        $programs::matrix,
                        grid,
                        (program, &inputs, words.view_2d($crate::case::FROM_COLUMNS)?, out.view_2d_mut(case.columns)?),
                    )?,
                    "atomics" => module.launch(
                        $programs::atomics,
                        grid,
                        (program, &inputs, &mut sums, &mut wide, &mut signed, &mut out),
                    )?,
                    "block" => module.launch($programs::block, grid, (program, &inputs, &mut out))?,
                    "collective" => module.launch($programs::collective, grid, (program, &inputs, &mut out))?,
                    _ => module.launch($programs::plain, grid, (program, &inputs, &mut out))?,
                }
                let mut words = out.to_vec()?.concat();
                words.extend(sums.to_vec()?.into_iter().map(u64::from));
                words.extend(wide.to_vec()?);
                words.extend(signed.to_vec()?.into_iter().map(|signed| signed as u64));
                Ok(words)
            }
        }
    };
}

kernels! {
    /// The programs that this program was built with, compiled without optimisation and with all checks.
    Unoptimised of random_programs_unoptimised
}

/// The memory of a launch.
#[derive(Debug)]
pub struct Data {
    /// See [`Case`].
    pub inputs: gpukernel::Buffer<[u64; 6]>,
    /// See [`Case`].
    pub words: gpukernel::Buffer<u32>,
    /// See [`Case`].
    pub bytes: gpukernel::Buffer<u8>,
    /// See [`Case`].
    pub shorts: gpukernel::Buffer<i16>,
    /// See [`Case`].
    pub doubles: gpukernel::Buffer<f64>,
    /// What each element becomes.
    pub out: gpukernel::Buffer<[u64; 4]>,
    /// Atomics, empty where there are none.
    pub sums: gpukernel::Buffer<u32>,
    /// See above.
    pub wide: gpukernel::Buffer<u64>,
    /// See above.
    pub signed: gpukernel::Buffer<i32>,
}

impl Data {
    /// Uploads what a case needs.
    ///
    /// # Errors
    /// What the runtime says.
    pub fn new(device: &gpukernel::Device, kind: Kind, case: &Case) -> Result<Self> {
        debug_assert!(case.words.len().is_multiple_of(FROM_COLUMNS));
        let atomics = if kind == Kind::Atomics { ATOMICS } else { 0 };
        let used = |kinds: &[Kind], len: usize| if kinds.contains(&kind) { len } else { 0 };
        let slices = [Kind::Slices];
        Ok(Self {
            inputs: device.upload(&case.inputs)?,
            words: device.upload(&case.words[..used(&[Kind::Slices, Kind::Matrix], case.words.len())])?,
            bytes: device.upload(&case.bytes[..used(&slices, case.bytes.len())])?,
            shorts: device.upload(&case.shorts[..used(&slices, case.shorts.len())])?,
            doubles: device.upload(&case.doubles[..used(&slices, case.doubles.len())])?,
            out: device.filled(case.inputs.len(), [7; 4])?,
            sums: device.filled(atomics, 0x0f0f_1234)?,
            wide: device.filled(atomics, 0x0f0f_1234_8765_4321)?,
            signed: device.filled(atomics, -12345)?,
        })
    }
}
