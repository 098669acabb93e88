//! Random numbers, beside cuRAND's of the same generator, Philox4x32-10.

use std::ffi::c_void;

use bytemuck::Zeroable;
use cudarc::curand::{
    result::{self, CurandError, generate},
    sys::{self, curandGenerator_t, curandRngType_t},
};
use gpu_std::prelude::DeviceCopy;
use gpukernel::{Buffer, DeviceSlice, RawArg, Stream};
use gpukernel_algorithms::Algorithms;
use gpukernel_bench::{Bench, Compare, Result, bench};

use super::{
    ELEMENTS,
    comparison::{Limit, OURS, compare_with},
    on_gpu,
};

const CURAND: &str = "cuRAND";

/// A generator of cuRAND.
struct Generator(curandGenerator_t);

impl Generator {
    fn new(stream: &Stream) -> Result<Self> {
        let philox = curandRngType_t::CURAND_RNG_PSEUDO_PHILOX4_32_10;
        let work = |stream: *mut c_void| {
            let generator = Self(result::create_generator_kind(philox)?);
            // SAFETY: both are alive.
            unsafe {
                result::set_seed(generator.0, 1)?;
                result::set_stream(generator.0, stream.cast())?;
            }
            Ok::<_, CurandError>(generator)
        };
        // SAFETY: it uses no memory of ours.
        Ok(unsafe { stream.queue(&[], work)? }?)
    }
}

impl Drop for Generator {
    fn drop(&mut self) {
        // SAFETY: it is used no more. If this fails, the context is lost, and with it the generator.
        let _ = unsafe { result::destroy_generator(self.0) };
    }
}

/// A function of cuRAND that fills so many numbers.
type Fill<T> = unsafe fn(curandGenerator_t, *mut T, usize) -> std::result::Result<(), CurandError>;

/// Measures how memory is filled.
fn fill<T: DeviceCopy + Zeroable + Compare>(
    bench: &mut Bench<'_>,
    elements: usize,
    theirs: Fill<T>,
    ours: impl Fn(&Algorithms, &mut DeviceSlice<T>) -> gpukernel_algorithms::Result<()>,
) -> Result {
    on_gpu(bench, |bench, algorithms| {
        // SAFETY: the library is NVIDIA's, whose initialisers have no preconditions.
        if !unsafe { sys::is_culib_present() } {
            bench.skip("libcurand is not in the path of the loader (`LD_LIBRARY_PATH`)");
            return Ok(());
        }
        let stream = algorithms.stream();
        let generator = Generator::new(stream)?;
        let (mut by_them, mut by_us) = (stream.zeroed(elements)?, stream.zeroed(elements)?);
        compare_with(CURAND, bench, elements, size_of::<T>() * elements, Some(Limit::Within))
            .unchecked("cuRAND deals the numbers of the generator to other places")
            .provider(CURAND, &mut by_them, |x: &mut Buffer<T>| -> Result {
                let to = x.as_mut_ptr();
                // SAFETY: there are so many elements, and the generator queues on the stream.
                unsafe {
                    stream.queue(&[RawArg::slice_mut(x)], |_| theirs(generator.0, to, elements))??;
                }
                Ok(())
            })
            .provider(OURS, &mut by_us, |x: &mut Buffer<T>| ours(algorithms, x))
            .run()
    })
}

#[bench(elements = ELEMENTS)]
fn random_u32(bench: &mut Bench<'_>, elements: usize) -> Result {
    fill::<u32>(bench, elements, generate::uniform_u32, |algorithms, x| algorithms.fill_random(1, x))
}

#[bench(elements = ELEMENTS)]
fn uniform_f32(bench: &mut Bench<'_>, elements: usize) -> Result {
    fill(bench, elements, generate::uniform_f32, |algorithms, x| algorithms.fill_uniform(1, 0.0..1.0, x))
}

#[bench(elements = ELEMENTS)]
fn uniform_f64(bench: &mut Bench<'_>, elements: usize) -> Result {
    fill(bench, elements, generate::uniform_f64, |algorithms, x| algorithms.fill_uniform(1, 0.0..1.0, x))
}

/// With a mean of 0 and a deviation of 1.
#[bench(elements = ELEMENTS)]
fn normal_f32(bench: &mut Bench<'_>, elements: usize) -> Result {
    let normal: Fill<f32> = |generator, x, len| {
        // SAFETY: as the caller promises.
        unsafe { generate::normal_f32(generator, x, len, 0.0, 1.0) }
    };
    fill(bench, elements, normal, |algorithms, x| algorithms.fill_normal(1, 0.0, 1.0, x))
}
