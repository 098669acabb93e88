//! What differs between the architectures of one image.

use gpukernel_build::{Error, LinkError, Options};
use gpukernel_tests::{KernelCrate, Shape};

const REDUX: &str = "
    unsafe extern \"C\" {
        fn __gpukernel_redux_add_u32(mask: u32, value: u32) -> u32;
    }
";

#[test]
fn a_branch_on_the_architecture_is_decided_in_the_code_of_each() {
    let lib = format!(
        "{REDUX}
        #[kernel]
        pub fn chosen(out: PerThread<u32>) {{
            for (_, out) in out {{
                // SAFETY: all lanes are here.
                *out = if gpu_std::arch() >= 80 {{ unsafe {{ __gpukernel_redux_add_u32(u32::MAX, *out) }} }} else {{ 7 }};
            }}
        }}"
    );
    let inspected = KernelCrate::written("arch_branch", &lib).inspect(Options::default());
    for (arch, has_redux) in
        [("sm_75", false), ("sm_80", true), ("sm_90", true), ("sm_100", true), ("sm_120", true)]
    {
        let ptx = inspected.kernel(arch, "chosen");
        assert_eq!(ptx.contains("redux.sync.add"), has_redux, "{arch}: {ptx}");
        Shape { text: &ptx }.lacks("call").lacks("gpukernel");
    }
}

#[test]
fn an_operation_that_an_architecture_lacks_is_refused_by_name() {
    let lib = format!(
        "{REDUX}
        #[kernel]
        pub fn sums(out: PerThread<u32>) {{
            for (_, out) in out {{
                // SAFETY: all lanes are here.
                *out = unsafe {{ __gpukernel_redux_add_u32(u32::MAX, *out) }};
            }}
        }}"
    );
    let error = KernelCrate::written("arch_lacks", &lib).try_build(Options::default()).unwrap_err();
    assert!(matches!(error, Error::Link(LinkError::ArchTooOld { .. })), "{error:?}");
    assert_eq!(
        error.to_string(),
        "the operation `redux_add_u32`, used by arch_lacks::sums, needs sm_80 or later, and code is built for sm_75 too: \
         leave sm_75 out of `archs` in the kernel crate's [package.metadata.gpukernel], or choose another way there by \
         `gpu_std::arch()`"
    );
}

#[test]
fn a_function_for_cuda_c_is_named_as_its_user() {
    let lib = format!(
        "use gpu_std::device;
        {REDUX}
        #[device(export)]
        pub extern \"C\" fn warp_sum(x: u32) -> u32 {{
            // SAFETY: all lanes are here.
            unsafe {{ __gpukernel_redux_add_u32(u32::MAX, x) }}
        }}"
    );
    let error = KernelCrate::written("arch_lacks_export", &lib).try_build(Options::default()).unwrap_err();
    assert!(error.to_string().contains("`redux_add_u32`, used by warp_sum, needs sm_80"), "{error}");
}
