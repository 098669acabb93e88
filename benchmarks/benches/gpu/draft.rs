//! First drafts of well-known kernels beside plain CUDA C++ with the same algorithms and blocks: see `kernels/src/draft` and `cuda/draft`.

use benchmark_kernels::draft::{
    dense::{STEP, TILE, min_plus, product, transpose},
    grids::{convolution, jacobi, lattice_boltzmann, stencil_f32, stencil_f64},
    particles::n_body,
    rows::{layer_norm, softmax, sparse_product},
    scalar::{black_scholes, sha_256_twice},
    sorting::{FFT_THREADS, ITEMS, POINTS, bitonic_sort, fft_1024},
    streams::{add, copy, dot, histogram, multiply, scatter_add, triad},
};
use gpukernel::{Buffer, Device, Error, ForeignModule, LaunchConfig, Module, RawArg, for_each};
use gpukernel_benchmarks::{compare, print_row};

use super::time;

/// A kernel of each side, and what the ratios were.
pub(crate) struct Draft<'a> {
    device: &'a Device,
    ours: &'a Module,
    ratios: Vec<f64>,
    mistakes: Vec<String>,
}

macro_rules! cuda {
    ($($name:ident)*) => {$(
        #[allow(non_upper_case_globals)]
        static $name: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/draft-", stringify!($name), ".fatbin"));
    )*};
}

cuda! { dense grids particles rows scalar sorting streams }

/// Numbers that look random, from 0 to 1.
fn noise(len: usize) -> Vec<f32> {
    let mut state = 0x9e37_79b9_u32;
    let next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) as f32 / (1 << 24) as f32
    };
    std::iter::repeat_with(next).take(len).collect()
}

/// The largest difference, in relation to the value where that is more than 1.
fn difference(ours: &[f64], theirs: &[f64]) -> f64 {
    assert_eq!(ours.len(), theirs.len());
    let of = |(a, b): (&f64, &f64)| if a == b { 0.0 } else { (a - b).abs() / b.abs().max(1.0) };
    ours.iter()
        .zip(theirs)
        .map(of)
        .fold(0.0, |largest: f64, next| if largest.is_nan() || next <= largest { largest } else { next })
}

fn read(buffer: &Buffer<f32>) -> Result<Vec<f64>, Error> {
    Ok(buffer.to_vec()?.into_iter().map(f64::from).collect())
}

impl Draft<'_> {
    /// Measures both, compares what they computed, and prints a row.
    fn row<O>(
        &mut self,
        name: &str,
        tolerance: f64,
        outputs: &mut [O; 2],
        ours: impl Fn(&mut O) -> Result<(), Error>,
        theirs: impl Fn(&mut O) -> Result<(), Error>,
        read: impl Fn(&O) -> Result<Vec<f64>, Error>,
    ) -> Result<(), Error> {
        let device = self.device;
        let [our_output, their_output] = outputs;
        let comparison = compare(
            Box::new(|| time(device, || ours(our_output))),
            Box::new(|| time(device, || theirs(their_output))),
        )?;
        print_row(name, "", Some(&comparison));
        self.ratios.push(comparison.ratio);
        let largest = difference(&read(&outputs[0])?, &read(&outputs[1])?);
        if largest.is_nan() || largest > tolerance {
            self.mistakes.push(format!("{name}: results differ by {largest}"));
        }
        Ok(())
    }

    fn foreign(&self, fatbin: &[u8]) -> Result<ForeignModule, Error> {
        // SAFETY: the build script made it with nvcc.
        unsafe { self.device.load_foreign(fatbin) }
    }

    fn zeros(&self, len: usize) -> Result<[Buffer<f32>; 2], Error> {
        Ok([self.device.zeroed(len)?, self.device.zeroed(len)?])
    }
}

/// Prints a row for each kernel, and the geometric mean.
pub(crate) fn compare_all(device: &Device, ours: &Module) -> Result<(), Error> {
    let mut draft = Draft { device, ours, ratios: Vec::new(), mistakes: Vec::new() };
    draft.particles()?;
    draft.grids()?;
    draft.rows()?;
    draft.dense()?;
    draft.scalar()?;
    draft.sorting()?;
    draft.streams()?;
    let count = draft.ratios.len();
    let mean = (draft.ratios.iter().map(|ratio| ratio.ln()).sum::<f64>() / count as f64).exp();
    println!("\ngeometric mean of {count} rows: {mean:.3}");
    assert!(draft.mistakes.is_empty(), "{}", draft.mistakes.join("\n"));
    Ok(())
}

impl Draft<'_> {
    fn particles(&mut self) -> Result<(), Error> {
        const BODIES: usize = 1 << 15;
        let (ours, theirs) = (self.ours, self.foreign(particles)?);
        let bodies: Vec<[f32; 4]> =
            noise(4 * BODIES).chunks(4).map(|body| body.try_into().unwrap_or_default()).collect();
        let bodies = self.device.upload(&bodies)?;
        let mut outputs = [self.device.zeroed::<[f32; 3]>(BODIES)?, self.device.zeroed::<[f32; 3]>(BODIES)?];
        self.row(
            "n-body, 2¹⁵",
            1e-2,
            &mut outputs,
            |sums| ours.launch(n_body, for_each(BODIES), (&bodies, sums)),
            |sums| {
                let args = [RawArg::slice(&bodies), RawArg::value(BODIES as u32), RawArg::slice_mut(sums)];
                // SAFETY: the parameters of the kernel in cuda/draft.
                unsafe { theirs.launch("n_body", LaunchConfig::new(BODIES / 256, 256), 0, &args) }
            },
            |sums| Ok(sums.to_vec()?.into_iter().flatten().map(f64::from).collect()),
        )
    }

    fn grids(&mut self) -> Result<(), Error> {
        const SIDE: usize = 512;
        const WIDTH: usize = 8192;
        let (ours, theirs) = (self.ours, self.foreign(grids)?);
        let grid_3d = LaunchConfig::new((SIDE / 32, SIDE / 4, SIDE / 2), (32, 4, 2));
        let grid = LaunchConfig::new((WIDTH / 32, WIDTH / 8), (32, 8));
        let (side, width) = (RawArg::value(SIDE as u32), RawArg::value(WIDTH as u32));
        {
            let from = self.device.upload(&noise(SIDE * SIDE * SIDE))?;
            let mut outputs = self.zeros(from.len())?;
            self.row(
                "7-point stencil 512³, f32",
                1e-5,
                &mut outputs,
                |to| {
                    ours.launch(
                        stencil_f32,
                        grid_3d,
                        (0.5, 0.1, from.view_3d(SIDE, SIDE)?, to.view_3d_mut(SIDE, SIDE)?),
                    )
                },
                |to| {
                    let args = [
                        RawArg::value(0.5_f32),
                        RawArg::value(0.1_f32),
                        RawArg::slice(&from),
                        RawArg::slice_mut(to),
                        side.clone(),
                        side.clone(),
                        side.clone(),
                    ];
                    // SAFETY: the parameters of the kernel in cuda/draft.
                    unsafe { theirs.launch("stencil_f32", grid_3d, 0, &args) }
                },
                read,
            )?;
        }
        {
            let values: Vec<f64> = noise(SIDE * SIDE * SIDE).into_iter().map(f64::from).collect();
            let from = self.device.upload(&values)?;
            let mut outputs =
                [self.device.zeroed::<f64>(from.len())?, self.device.zeroed::<f64>(from.len())?];
            self.row(
                "7-point stencil 512³, f64",
                1e-12,
                &mut outputs,
                |to| {
                    ours.launch(
                        stencil_f64,
                        grid_3d,
                        (0.5, 0.1, from.view_3d(SIDE, SIDE)?, to.view_3d_mut(SIDE, SIDE)?),
                    )
                },
                |to| {
                    let args = [
                        RawArg::value(0.5_f64),
                        RawArg::value(0.1_f64),
                        RawArg::slice(&from),
                        RawArg::slice_mut(to),
                        side.clone(),
                        side.clone(),
                        side.clone(),
                    ];
                    // SAFETY: the parameters of the kernel in cuda/draft.
                    unsafe { theirs.launch("stencil_f64", grid_3d, 0, &args) }
                },
                |to| to.to_vec(),
            )?;
        }
        let image = self.device.upload(&noise(WIDTH * WIDTH))?;
        let mut outputs = self.zeros(image.len())?;
        self.row(
            "Jacobi 8192²",
            1e-5,
            &mut outputs,
            |to| ours.launch(jacobi, grid, (image.view_2d(WIDTH)?, to.view_2d_mut(WIDTH)?)),
            |to| {
                let args = [RawArg::slice(&image), RawArg::slice_mut(to), width.clone(), width.clone()];
                // SAFETY: the parameters of the kernel in cuda/draft.
                unsafe { theirs.launch("jacobi", grid, 0, &args) }
            },
            read,
        )?;
        let filter = self.device.upload(&noise(25))?;
        self.row(
            "5 × 5 convolution 8192²",
            1e-4,
            &mut outputs,
            |to| ours.launch(convolution, grid, (image.view_2d(WIDTH)?, &filter, to.view_2d_mut(WIDTH)?)),
            |to| {
                let args = [
                    RawArg::slice(&image),
                    RawArg::slice(&filter),
                    RawArg::slice_mut(to),
                    width.clone(),
                    width.clone(),
                ];
                // SAFETY: the parameters of the kernel in cuda/draft.
                unsafe { theirs.launch("convolution", grid, 0, &args) }
            },
            read,
        )?;
        const LATTICE: usize = 4096;
        let from: Vec<f32> = noise(9 * LATTICE * LATTICE).into_iter().map(|x| 0.1 + 0.02 * x).collect();
        let from = self.device.upload(&from)?;
        let mut outputs = self.zeros(from.len())?;
        let grid = LaunchConfig::new((LATTICE / 32, LATTICE / 8), (32, 8));
        let size = RawArg::value(LATTICE as u32);
        self.row(
            "lattice Boltzmann D2Q9 4096²",
            1e-4,
            &mut outputs,
            |to| {
                let planes = from.view_3d(LATTICE, LATTICE)?.into_layers()?;
                ours.launch(
                    lattice_boltzmann,
                    grid,
                    (1.2, planes, to.view_3d_mut(LATTICE, LATTICE)?.into_layers()?),
                )
            },
            |to| {
                let args = [
                    RawArg::value(1.2_f32),
                    RawArg::slice(&from),
                    RawArg::slice_mut(to),
                    size.clone(),
                    size.clone(),
                ];
                // SAFETY: the parameters of the kernel in cuda/draft.
                unsafe { theirs.launch("lattice_boltzmann", grid, 0, &args) }
            },
            read,
        )
    }

    fn rows(&mut self) -> Result<(), Error> {
        const COLUMNS: usize = 1024;
        const ROWS: usize = 1 << 15;
        let (ours, theirs) = (self.ours, self.foreign(rows)?);
        let x = self.device.upload(&noise(ROWS * COLUMNS))?;
        let mut outputs = self.zeros(x.len())?;
        let grid = LaunchConfig::new((1, ROWS), 256);
        let their_grid = LaunchConfig::new(ROWS, 256);
        let columns = RawArg::value(COLUMNS as u32);
        self.row(
            "softmax of 2¹⁵ rows of 1024",
            1e-5,
            &mut outputs,
            |y| ours.launch(softmax, grid, (COLUMNS as u32, &x, y.view_2d_mut(COLUMNS)?)),
            |y| {
                let args = [columns.clone(), RawArg::slice(&x), RawArg::slice_mut(y)];
                // SAFETY: the parameters of the kernel in cuda/draft.
                unsafe { theirs.launch("softmax", their_grid, 0, &args) }
            },
            read,
        )?;
        let (scale, offset) = (self.device.upload(&noise(COLUMNS))?, self.device.filled(COLUMNS, 0.5_f32)?);
        self.row(
            "layer norm of 2¹⁵ rows of 1024",
            1e-3,
            &mut outputs,
            |y| ours.launch(layer_norm, grid, (COLUMNS as u32, &x, &scale, &offset, y.view_2d_mut(COLUMNS)?)),
            |y| {
                let args = [
                    columns.clone(),
                    RawArg::slice(&x),
                    RawArg::slice(&scale),
                    RawArg::slice(&offset),
                    RawArg::slice_mut(y),
                ];
                // SAFETY: the parameters of the kernel in cuda/draft.
                unsafe { theirs.launch("layer_norm", their_grid, 0, &args) }
            },
            read,
        )?;
        const SPARSE_ROWS: usize = 1 << 19;
        const PER_ROW: usize = 64;
        let starts: Vec<u32> = (0..=SPARSE_ROWS).map(|row| (row * PER_ROW) as u32).collect();
        let places: Vec<u32> = noise(SPARSE_ROWS * PER_ROW)
            .into_iter()
            .map(|x| (x * SPARSE_ROWS as f32) as u32 % SPARSE_ROWS as u32)
            .collect();
        let (starts, places) = (self.device.upload(&starts)?, self.device.upload(&places)?);
        let values = self.device.upload(&noise(SPARSE_ROWS * PER_ROW))?;
        let vector = self.device.upload(&noise(SPARSE_ROWS))?;
        let mut outputs = self.zeros(SPARSE_ROWS)?;
        let grid = LaunchConfig::new(SPARSE_ROWS / 8, 256);
        self.row(
            "sparse product, 2¹⁹ rows of 64",
            1e-3,
            &mut outputs,
            |y| ours.launch(sparse_product, grid, (&starts, &places, &values, &vector, y)),
            |y| {
                let args = [
                    RawArg::slice(&starts),
                    RawArg::value(SPARSE_ROWS as u32),
                    RawArg::slice(&places),
                    RawArg::slice(&values),
                    RawArg::slice(&vector),
                    RawArg::slice_mut(y),
                ];
                // SAFETY: the parameters of the kernel in cuda/draft.
                unsafe { theirs.launch("sparse_product", grid, 0, &args) }
            },
            read,
        )
    }

    fn dense(&mut self) -> Result<(), Error> {
        const SIZE: usize = 2048;
        let (ours, theirs) = (self.ours, self.foreign(dense)?);
        let (a, b) = (self.device.upload(&noise(SIZE * SIZE))?, self.device.upload(&noise(SIZE * SIZE))?);
        let mut outputs = self.zeros(SIZE * SIZE)?;
        let grid = LaunchConfig::new((SIZE / TILE, SIZE / TILE), (TILE, TILE));
        fn args<'a>(a: &'a Buffer<f32>, b: &'a Buffer<f32>, c: &'a mut Buffer<f32>) -> [RawArg<'a>; 6] {
            let size = RawArg::value(SIZE as u32);
            [RawArg::slice(a), RawArg::slice(b), RawArg::slice_mut(c), size.clone(), size.clone(), size]
        }
        self.row(
            "product 2048³ in tiles of 32",
            1e-4,
            &mut outputs,
            |c| ours.launch(product, grid, (a.view_2d(SIZE)?, b.view_2d(SIZE)?, c.view_2d_mut(SIZE)?)),
            // SAFETY: the parameters of the kernel in cuda/draft.
            |c| unsafe { theirs.launch("product", grid, 0, &args(&a, &b, c)) },
            read,
        )?;
        self.row(
            "min-plus product 2048³",
            1e-5,
            &mut outputs,
            |c| ours.launch(min_plus, grid, (a.view_2d(SIZE)?, b.view_2d(SIZE)?, c.view_2d_mut(SIZE)?)),
            // SAFETY: as above.
            |c| unsafe { theirs.launch("min_plus", grid, 0, &args(&a, &b, c)) },
            read,
        )?;
        const WIDTH: usize = 8192;
        let from = self.device.upload(&noise(WIDTH * WIDTH))?;
        let mut outputs = self.zeros(from.len())?;
        let grid = LaunchConfig::new((WIDTH / TILE, WIDTH / TILE), (TILE, STEP));
        self.row(
            "transpose 8192²",
            0.0,
            &mut outputs,
            |to| ours.launch(transpose, grid, (from.view_2d(WIDTH)?, to.view_2d_mut(WIDTH)?)),
            |to| {
                let args = [
                    RawArg::slice(&from),
                    RawArg::slice_mut(to),
                    RawArg::value(WIDTH as u32),
                    RawArg::value(WIDTH as u32),
                ];
                // SAFETY: the parameters of the kernel in cuda/draft.
                unsafe { theirs.launch("transpose", grid, 0, &args) }
            },
            read,
        )
    }

    fn scalar(&mut self) -> Result<(), Error> {
        const OPTIONS: usize = 1 << 25;
        let (ours, theirs) = (self.ours, self.foreign(scalar)?);
        let prices = |from: f32, by: f32| {
            let values: Vec<f32> = noise(OPTIONS).into_iter().map(|x| from + by * x).collect();
            self.device.upload(&values)
        };
        let (stocks, strikes, years) = (prices(5.0, 25.0)?, prices(1.0, 99.0)?, prices(0.25, 9.75)?);
        let pair =
            || Ok::<_, Error>((self.device.zeroed::<f32>(OPTIONS)?, self.device.zeroed::<f32>(OPTIONS)?));
        let mut outputs = [pair()?, pair()?];
        self.row(
            "Black-Scholes, 2²⁵",
            1e-4,
            &mut outputs,
            |(calls, puts)| {
                ours.launch(black_scholes, for_each(OPTIONS), (&stocks, &strikes, &years, calls, puts))
            },
            |(calls, puts)| {
                let args = [
                    RawArg::slice(&stocks),
                    RawArg::slice(&strikes),
                    RawArg::slice(&years),
                    RawArg::value(OPTIONS),
                    RawArg::slice_mut(calls),
                    RawArg::slice_mut(puts),
                ];
                // SAFETY: the parameters of the kernel in cuda/draft.
                unsafe { theirs.launch("black_scholes", LaunchConfig::new(OPTIONS / 256, 256), 0, &args) }
            },
            |(calls, puts)| Ok([read(calls)?, read(puts)?].concat()),
        )?;
        const NONCES: usize = 1 << 24;
        let header: [u32; 19] = std::array::from_fn(|i| (i as u32 + 1).wrapping_mul(0x9e37_79b9));
        let mut outputs = [self.device.zeroed::<u32>(NONCES)?, self.device.zeroed::<u32>(NONCES)?];
        self.row(
            "SHA-256 twice, 2²⁴",
            0.0,
            &mut outputs,
            |words| ours.launch(sha_256_twice, for_each(NONCES), (header, words)),
            |words| {
                let args = [RawArg::value(header), RawArg::slice_mut(words), RawArg::value(NONCES as u32)];
                // SAFETY: the parameters of the kernel in cuda/draft.
                unsafe { theirs.launch("sha_256_twice", LaunchConfig::new(NONCES / 256, 256), 0, &args) }
            },
            |words| Ok(words.to_vec()?.into_iter().map(f64::from).collect()),
        )
    }

    fn sorting(&mut self) -> Result<(), Error> {
        const LEN: usize = 1 << 25;
        let (ours, theirs) = (self.ours, self.foreign(sorting)?);
        let numbers: Vec<u32> = noise(LEN).into_iter().map(f32::to_bits).collect();
        let x = self.device.upload(&numbers)?;
        let mut outputs = [self.device.zeroed::<u32>(LEN)?, self.device.zeroed::<u32>(LEN)?];
        self.row(
            "bitonic sort of each 512",
            0.0,
            &mut outputs,
            |y| ours.launch(bitonic_sort, for_each(LEN), (&x, y)),
            |y| {
                let args = [RawArg::slice(&x), RawArg::value(LEN), RawArg::slice_mut(y)];
                // SAFETY: the parameters of the kernel in cuda/draft.
                unsafe { theirs.launch("bitonic_sort", LaunchConfig::new(LEN / ITEMS, ITEMS), 0, &args) }
            },
            |y| Ok(y.to_vec()?.into_iter().map(f64::from).collect()),
        )?;
        let points: Vec<[f32; 2]> = noise(2 * LEN).chunks(2).map(|point| [point[0], point[1]]).collect();
        let x = self.device.upload(&points)?;
        let mut outputs = [self.device.zeroed::<[f32; 2]>(LEN)?, self.device.zeroed::<[f32; 2]>(LEN)?];
        let grid = LaunchConfig::new(LEN / POINTS, FFT_THREADS);
        self.row(
            "Fourier transform of each 1024",
            1e-3,
            &mut outputs,
            |y| ours.launch(fft_1024, grid, (&x, y)),
            |y| {
                let args = [RawArg::slice(&x), RawArg::value(LEN), RawArg::slice_mut(y)];
                // SAFETY: the parameters of the kernel in cuda/draft.
                unsafe { theirs.launch("fft_1024", grid, 0, &args) }
            },
            |y| Ok(y.to_vec()?.into_iter().flatten().map(f64::from).collect()),
        )
    }

    /// BabelStream's kernels have their outputs in other places each.
    fn streams(&mut self) -> Result<(), Error> {
        const LEN: usize = 1 << 26;
        let (ours, theirs) = (self.ours, self.foreign(streams)?);
        let (a, b) = (self.device.filled(LEN, 0.1_f64)?, self.device.filled(LEN, 0.2_f64)?);
        let mut outputs = [self.device.zeroed::<f64>(LEN)?, self.device.zeroed::<f64>(LEN)?];
        let grid = LaunchConfig::new(LEN / 256, 256);
        let len = RawArg::value(LEN);
        let read = |to: &Buffer<f64>| to.to_vec();
        self.row(
            "BabelStream copy, 2²⁶",
            0.0,
            &mut outputs,
            |c| ours.launch(copy, for_each(LEN), (&a, c)),
            // SAFETY: the parameters of the kernel in cuda/draft.
            |c| unsafe {
                theirs.launch("copy", grid, 0, &[RawArg::slice(&a), RawArg::slice_mut(c), len.clone()])
            },
            read,
        )?;
        self.row(
            "BabelStream multiply",
            0.0,
            &mut outputs,
            |b| ours.launch(multiply, for_each(LEN), (b, &a)),
            // SAFETY: as above.
            |b| unsafe {
                theirs.launch("multiply", grid, 0, &[RawArg::slice_mut(b), RawArg::slice(&a), len.clone()])
            },
            read,
        )?;
        self.row(
            "BabelStream add",
            0.0,
            &mut outputs,
            |c| ours.launch(add, for_each(LEN), (&a, &b, c)),
            |c| {
                let args = [RawArg::slice(&a), RawArg::slice(&b), RawArg::slice_mut(c), len.clone()];
                // SAFETY: as above.
                unsafe { theirs.launch("add", grid, 0, &args) }
            },
            read,
        )?;
        self.row(
            "BabelStream triad",
            1e-15,
            &mut outputs,
            |c| ours.launch(triad, for_each(LEN), (c, &a, &b)),
            |c| {
                let args = [RawArg::slice_mut(c), RawArg::slice(&a), RawArg::slice(&b), len.clone()];
                // SAFETY: as above.
                unsafe { theirs.launch("triad", grid, 0, &args) }
            },
            read,
        )?;
        let mut sums = [self.device.zeroed::<f64>(264)?, self.device.zeroed::<f64>(264)?];
        let few = LaunchConfig::new(264, 1024);
        self.row(
            "BabelStream dot",
            1e-9,
            &mut sums,
            |sums| ours.launch(dot, few, (&a, &b, sums)),
            |sums| {
                let args = [RawArg::slice(&a), RawArg::slice(&b), len.clone(), RawArg::slice_mut(sums)];
                // SAFETY: as above.
                unsafe { theirs.launch("dot", few, 0, &args) }
            },
            read,
        )?;
        let values: Vec<u8> = noise(LEN).into_iter().map(|x| (x * 256.0) as u8).collect();
        let values = self.device.upload(&values)?;
        let mut bins = [self.device.zeroed::<u32>(256)?, self.device.zeroed::<u32>(256)?];
        let few = LaunchConfig::new(132 * 8, 256);
        // Both add to what is there, equally often.
        self.row(
            "histogram of 2²⁶ bytes",
            0.0,
            &mut bins,
            |bins| ours.launch(histogram, few, (&values, bins)),
            |bins| {
                let args = [RawArg::slice(&values), len.clone(), RawArg::slice_mut(bins)];
                // SAFETY: as above.
                unsafe { theirs.launch("histogram", few, 0, &args) }
            },
            |bins| Ok(bins.to_vec()?.into_iter().map(f64::from).collect()),
        )?;
        const SUMS: usize = 1 << 20;
        let places: Vec<u32> =
            noise(LEN / 4).into_iter().map(|x| (x * SUMS as f32) as u32 % SUMS as u32).collect();
        let (places, added) = (self.device.upload(&places)?, self.device.filled(LEN / 4, 1.0_f32)?);
        let mut sums = self.zeros(SUMS)?;
        self.row(
            "scatter-add of 2²⁴ to 2²⁰",
            0.0,
            &mut sums,
            |sums| ours.launch(scatter_add, few, (&places, &added, sums)),
            |sums| {
                let args = [
                    RawArg::slice(&places),
                    RawArg::slice(&added),
                    RawArg::value(LEN / 4),
                    RawArg::slice_mut(sums),
                ];
                // SAFETY: as above.
                unsafe { theirs.launch("scatter_add", few, 0, &args) }
            },
            self::read,
        )
    }
}
