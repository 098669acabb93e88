//! PTX and machine code that were made elsewhere. The CPU cannot run them, and says so.

use gpukernel::{Error, LaunchConfig, RawArg};
use gpukernel_device_tests::{KERNELS, on_every_gpu, on_the_cpu};
use gpukernel_image::Image;

/// `numbers[i] *= by` for `i < count`, as a compiler of C would write it.
pub(crate) const SCALE: &str = "
.version 6.3
.target sm_75
.address_size 64
.visible .entry scale(.param .u64 numbers, .param .u32 count, .param .f32 by)
{
    .reg .pred %out;
    .reg .b32 %r<6>;
    .reg .f32 %f<4>;
    .reg .b64 %rd<5>;
    ld.param.u64 %rd1, [numbers];
    ld.param.u32 %r1, [count];
    ld.param.f32 %f1, [by];
    mov.u32 %r2, %ctaid.x;
    mov.u32 %r3, %ntid.x;
    mov.u32 %r4, %tid.x;
    mad.lo.u32 %r5, %r2, %r3, %r4;
    setp.ge.u32 %out, %r5, %r1;
    @%out ret;
    cvta.to.global.u64 %rd2, %rd1;
    mul.wide.u32 %rd3, %r5, 4;
    add.u64 %rd4, %rd2, %rd3;
    ld.global.f32 %f2, [%rd4];
    mul.f32 %f3, %f2, %f1;
    st.global.f32 [%rd4], %f3;
    ret;
}
";

/// A kernel with 512 bytes of local and 640 of shared memory.
const TAKES_MUCH: &str = "
.version 6.3
.target sm_75
.address_size 64
.visible .entry takes_much(.param .u64 out, .param .u32 place)
{
    .local .align 4 .b8 of_thread[512];
    .shared .align 4 .b8 of_block[640];
    .reg .b32 %r<8>;
    .reg .b64 %rd<12>;
    ld.param.u64 %rd1, [out];
    ld.param.u32 %r1, [place];
    mov.u32 %r2, %tid.x;
    mul.wide.u32 %rd3, %r1, 4;
    mov.u64 %rd4, of_thread;
    add.u64 %rd5, %rd4, %rd3;
    st.local.u32 [%rd5], %r2;
    mov.u64 %rd6, of_block;
    add.u64 %rd7, %rd6, %rd3;
    st.shared.u32 [%rd7], %r1;
    ld.local.u32 %r3, [of_thread+4];
    ld.shared.u32 %r4, [of_block+8];
    add.u32 %r5, %r3, %r4;
    cvta.to.global.u64 %rd8, %rd1;
    st.global.u32 [%rd8], %r5;
    ret;
}
";

#[test]
fn foreign_code_needs_a_gpu() {
    on_the_cpu(|device, _| {
        // SAFETY: it is PTX, which the driver compiles and so checks.
        let error = unsafe { device.load_foreign(SCALE.as_bytes()) }.unwrap_err();
        assert!(matches!(error, Error::NeedsGpu { .. }), "{error}");
        Ok(())
    });
}

/// Skipped by name where there is no GPU: `cargo gpukernel test` and bundles run them where there is one.
mod needs_a_gpu {
    use super::*;

    #[test]
    #[ignore = "needs a GPU"]
    fn what_kernels_take_is_told() {
        on_every_gpu(|device| {
            // SAFETY: it is PTX, which the driver compiles and so checks.
            let module = unsafe { device.load_foreign(TAKES_MUCH.as_bytes()) }?;
            let attributes = module.attributes("takes_much", 1024)?.expect("a GPU has some");
            assert!(attributes.registers > 0 && attributes.local_bytes >= 512, "{attributes:?}");
            assert_eq!((attributes.shared_bytes, attributes.max_threads_per_block), (640, 1024));
            assert!(attributes.blocks_per_multiprocessor > 0, "{attributes:?}");
            let error = module.attributes("takes_nothing", 32).unwrap_err();
            assert!(matches!(error, Error::NoSuchKernel { .. }), "{error}");
            Ok(())
        });
    }

    #[test]
    #[ignore = "needs a GPU"]
    fn foreign_ptx_runs_on_a_gpu() {
        on_every_gpu(|device| {
            // SAFETY: it is PTX, which the driver compiles and so checks.
            let module = unsafe { device.load_foreign(SCALE.as_bytes()) }?;
            let numbers: Vec<f32> = (0..1000).map(|i| i as f32).collect();
            let mut buffer = device.upload(&numbers)?;
            let stream = device.stream()?;
            // SAFETY: the arguments are those of `scale`, which stays inside the buffer because of the count.
            unsafe {
                let args = [RawArg::slice_mut(&mut buffer), RawArg::value(900_u32), RawArg::value(3.0_f32)];
                stream.launch_foreign(&module, "scale", LaunchConfig::new(4, 256), 0, &args)?;
            }
            let expected = numbers.iter().enumerate().map(|(i, x)| if i < 900 { 3.0 * x } else { *x });
            assert!(buffer.to_vec()?.into_iter().eq(expected));
            Ok(())
        });
    }

    /// What other programs do with our code: the kernel is found by its bare name, and takes a slice as pointer and length.
    #[test]
    #[ignore = "needs a GPU"]
    fn code_runs_by_itself() {
        let image = Image::parse(KERNELS.bytes()).unwrap();
        on_every_gpu(|device| {
            let code = device.arch().and_then(|arch| image.code_for(arch)).expect("kernels ran there");
            // SAFETY: LLVM or ptxas wrote it.
            let module = unsafe { device.load_foreign(&code.unpack().unwrap()) }?;
            let x = device.upload(&[1.0_f32, 2.0, 3.0])?;
            let mut y = device.upload(&[10.0_f32, 20.0, 30.0])?;
            // SAFETY: `saxpy(a: f32, x: &[f32], y: PerThread<f32>)`, with the lengths of both.
            unsafe {
                let x_args = [RawArg::slice(&x), RawArg::value(3_usize)];
                let y_args = [RawArg::slice_mut(&mut y), RawArg::value(3_usize)];
                let args: Vec<_> = [RawArg::value(2.0_f32)].into_iter().chain(x_args).chain(y_args).collect();
                module.launch("saxpy", LaunchConfig::new(1, 32), 0, &args)?;
            }
            assert_eq!(y.to_vec()?, [12.0, 24.0, 36.0]);
            Ok(())
        });
    }

    #[test]
    #[ignore = "needs a GPU"]
    fn errors_in_foreign_code_come_with_the_drivers_log() {
        on_every_gpu(|device| {
            let broken = SCALE.replace("mul.f32", "mul.f33");
            // SAFETY: it is PTX, which the driver compiles and so checks.
            let error = unsafe { device.load_foreign(broken.as_bytes()) }.unwrap_err();
            assert!(matches!(&error, Error::Load { log, .. } if log.contains("f33")), "{error}");

            // SAFETY: it is no code, and refused before the driver sees it.
            let error = unsafe { device.load_foreign(b"#!/bin/sh") }.unwrap_err();
            assert!(matches!(error, Error::ForeignCode { .. }), "{error}");

            // SAFETY: it is PTX, which the driver compiles and so checks.
            let module = unsafe { device.load_foreign(SCALE.as_bytes()) }?;
            // SAFETY: there is no such kernel.
            let error = unsafe { module.launch("scales", LaunchConfig::new(1, 1), 0, &[]) }.unwrap_err();
            assert!(matches!(&error, Error::NoSuchKernel { kernel, .. } if kernel == "scales"), "{error}");
            Ok(())
        });
    }
}
