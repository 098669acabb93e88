//! What the long run makes of PTX is PTX. Needs the toolchain, as `fuzz make` does.

use gpukernel_build::toolchain::{CudaPart, FindOptions, Toolchain};
use gpukernel_program_tests::{DEV, RELEASE};
use program_fuzz::{
    batch::{Code, symbol},
    ptx::Pieces,
    run,
};

/// The long run takes PTX apart: one program for the driver's compiler, and several for `ptxas -O0`.
#[test]
fn pieces_of_ptx_are_whole_modules() {
    let toolchain =
        Toolchain::find(&FindOptions::new(env!("CARGO_MANIFEST_DIR"))).expect("it built the programs");
    let ptxas = &toolchain.cuda.require(CudaPart::Ptxas).expect("it assembled them").path;
    let scratch = tempfile::tempdir().expect("a temporary folder can be made");
    for (image, dev) in [(&RELEASE, false), (&DEV, true)] {
        let code = Code::of_image(image.bytes(), dev).unwrap_or_else(|error| panic!("{error}"));
        let pieces = Pieces::new(&code.ptx);
        let symbols: Vec<_> = (0..code.manifest.kernels.len()).map(symbol).collect();
        let symbols: Vec<_> = symbols.iter().map(String::as_str).collect();
        for number in 0..symbols.len() {
            let text = pieces.with(&symbols[number..=number]);
            let entries: Vec<_> = text.lines().filter(|line| line.contains(".entry")).collect();
            assert!(
                entries.len() == 1 && entries[0].contains(&format!(" {}(", symbols[number])),
                "{entries:?}"
            );
        }
        for some in symbols.chunks(25).chain([&symbols[4..5]]) {
            let cubin = run::assemble(ptxas, "sm_90", &pieces.with(some), scratch.path());
            assert!(cubin.unwrap_or_else(|error| panic!("{error}")).starts_with(b"\x7fELF"));
        }
        assert_eq!(pieces.all(), code.ptx);
    }
}
