//! What a kernel requires of its arguments (`requires`), in device code and in the image.

use gpukernel_build::Options;
use gpukernel_tests::{KernelCrate, Shape};

/// The optimiser is told what launches have checked: no bounds check is left.
#[test]
fn bounds_checks_vanish_under_requires() {
    let lib = "
        const WIDTH: usize = 4;

        #[kernel(requires = x.len() >= y.len())]
        pub fn as_long(x: &[f32], y: PerThread<f32>) {
            for (i, y) in y { *y += x[i]; }
        }

        #[kernel(requires = x.len() >= 2 * y.len())]
        pub fn twice_as_long(x: &[f32], y: PerThread<f32>) {
            for (i, y) in y { *y += x[i]; }
        }

        #[kernel(requires = x.len() >= WIDTH)]
        pub fn at_least_so_many(x: &[f32], y: PerThread<f32>) {
            for (_, y) in y { *y += x[0] + x[1] + x[2] + x[3]; }
        }

        #[kernel(requires = (n as usize) < x.len())]
        pub fn by_a_cast(x: &[f32], n: u32, y: PerThread<f32>) {
            for (_, y) in y { *y += x[n as usize]; }
        }

        #[kernel(requires = x.len() >= N)]
        pub fn generic<const N: usize>(x: &[f32], y: PerThread<f32>) {
            for (_, y) in y { *y += x[N - 1]; }
        }
        gpu_std::instantiate!(generic::<16>, pub fn generic_named = generic::<64>);

        #[kernel(requires = x.rows() >= 1 && x.columns() > 3)]
        pub fn matrices(x: View2d<f32>, y: PerThread<f32>) {
            for (_, y) in y { *y += x[(0, 3)]; }
        }

        #[kernel(requires = step != 0 && scale > 0.5)]
        pub fn divisor(step: u32, scale: f32, y: PerThread<u32>) {
            for (i, y) in y { *y += i as u32 / step; }
        }";
    let inspected = KernelCrate::written("requires_shape", lib).inspect(Options::default());
    assert_eq!(inspected.built.manifest.kernels.len(), 8);
    let checks = |symbol: &str| {
        let ptx = inspected.kernel("sm_90", symbol);
        ptx.contains("trap") || ptx.contains("gpukernel_panic") || ptx.contains("call")
    };
    let symbols = inspected.built.manifest.kernels.iter().map(|kernel| kernel.symbol.as_str());
    assert_eq!(symbols.filter(|symbol| checks(symbol)).collect::<Vec<_>>(), [""; 0]);
    Shape { text: &inspected.ptx("sm_90") }.lacks("CONDITION");
}

/// The image says what the device relies on, so that a program compiled with other constants or types is found out.
#[test]
fn conditions_and_their_constants_are_in_the_image() {
    let lib = r#"
        #[cfg(target_arch = "nvptx64")]
        const LIMIT: usize = 0x40;
        #[cfg(not(target_arch = "nvptx64"))]
        const LIMIT: usize = 0;

        pub mod sizes { pub const SCALE: f32 = -2.0; }

        #[kernel(requires = x.len()>=LIMIT*2&&(scale<self::sizes::SCALE||n as u64!=u64::MAX))]
        pub fn limited(x: &[f32], n: u32, scale: f32) {}

        #[kernel(requires = count < N)]
        pub fn instance<const N: i64>(count: i64) {}
        gpu_std::instantiate!(instance::<-1>, pub fn named = instance::<7>);

        #[kernel]
        pub fn open(n: u32) {}

        #[kernel]
        pub fn open_instance<const N: u32>(n: u32) {}
        gpu_std::instantiate!(open_instance::<1>, open_instance::<2>, pub fn open_named = open_instance::<3>);
        "#;
    let manifest = KernelCrate::written("requires_image", lib).inspect(Options::default()).built.manifest;
    let requires = |name: &str| {
        let kernel = manifest.kernel(&format!("requires_image::{name}")).unwrap();
        kernel.signature.iter().find_map(|line| line.strip_prefix("requires ")).unwrap()
    };
    assert_eq!(
        requires("limited"),
        "x.len() >= LIMIT * 2 && (scale < self::sizes::SCALE || n as u64 != u64::MAX); of 0 2 1; LIMIT: usize = 0x40; scale: f32; \
         self::sizes::SCALE: f32 = 0xc0000000; n: u32; u64::MAX: u64 = 0xffffffffffffffff"
    );
    assert_eq!(requires("instance<-1>"), "count < N; of 0; count: i64; N: i64 = 0xffffffffffffffff");
    assert_eq!(requires("named"), "count < N; of 0; count: i64; N: i64 = 0x7");
    for name in ["open", "open_instance<1>", "open_instance<2>", "open_named"] {
        assert_eq!(requires(name), "nothing");
    }
}
