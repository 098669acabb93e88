//! Drafts and tuned kernels give the same on the CPU device, for extents that no block divides; on a GPU the benchmarks compare them with CUDA C++.

use benchmark_kernels::draft;
use gpu_std::complex::Complex;
use gpukernel::{Buffer, Device, Error, Image, LaunchConfig, Module, for_each, for_each_2d, for_each_tile};
use gpukernel_benchmarks::{
    molecules::{Boxes, Docking},
    noise,
};

static KERNELS: Image = gpukernel::image!("kernels");
static TUNED: Image = gpukernel::image!("tuned");

fn modules() -> (Device, Module, Module) {
    let device = Device::cpu();
    let load = |image| device.load(image).expect("the build script made it");
    let (drafts, tuned) = (load(&KERNELS), load(&TUNED));
    (device, drafts, tuned)
}

#[track_caller]
fn assert_close(ours: &[f32], expected: &[f32]) {
    assert_eq!(ours.len(), expected.len());
    for (i, (a, b)) in ours.iter().zip(expected).enumerate() {
        assert!((a - b).abs() <= 1e-4 * b.abs().max(1.0), "{i}: {a} instead of {b}");
    }
}

#[track_caller]
fn assert_alike(outputs: &[Buffer<f32>; 2]) -> Result<(), Error> {
    assert_close(&outputs[1].to_vec()?, &outputs[0].to_vec()?);
    Ok(())
}

fn zeros(device: &Device, len: usize) -> Result<[Buffer<f32>; 2], Error> {
    Ok([device.zeroed(len)?, device.zeroed(len)?])
}

/// Launches a kernel of each crate with the same arguments.
macro_rules! both {
    ($drafts:ident, $tuned:ident, $family:ident :: $kernel:ident, $outputs:ident, |$out:ident| $config:expr, $args:expr) => {{
        let [first, second] = &mut $outputs;
        let $out = first;
        $drafts.launch(draft::$family::$kernel, $config, $args)?;
        let $out = second;
        $tuned.launch(benchmark_tuned::$family::$kernel, $config, $args)?;
    }};
}

#[test]
fn grids() -> Result<(), Error> {
    let (device, drafts, tuned) = modules();
    let (layers, rows, columns) = (7, 19, 37);
    let x = device.upload(&noise(layers * rows * columns))?;
    let mut outputs = zeros(&device, x.len())?;
    let volume = LaunchConfig::new((2, 5, 4), (32, 4, 2));
    both!(drafts, tuned, grids::stencil_f32, outputs, |to| volume, {
        (0.5, 0.1, x.view_3d(rows, columns)?, to.view_3d_mut(rows, columns)?)
    });
    assert_alike(&outputs)?;
    let plane = for_each_2d(layers * rows, columns);
    both!(drafts, tuned, grids::jacobi, outputs, |to| plane, {
        (x.view_2d(columns)?, to.view_2d_mut(columns)?)
    });
    assert_alike(&outputs)?;
    let factors: [f32; 25] = std::array::from_fn(|i| i as f32 / 25.0);
    let filter = device.upload(&factors)?;
    let [first, second] = &mut outputs;
    drafts.launch(
        draft::grids::convolution,
        plane,
        (x.view_2d(columns)?, &filter, first.view_2d_mut(columns)?),
    )?;
    tuned.launch(
        benchmark_tuned::grids::convolution,
        plane,
        (x.view_2d(columns)?, factors, second.view_2d_mut(columns)?),
    )?;
    assert_alike(&outputs)?;
    let from: Vec<f32> = noise(9 * rows * columns).into_iter().map(|x| 0.1 + 0.02 * x).collect();
    let from = device.upload(&from)?;
    let mut outputs = zeros(&device, from.len())?;
    both!(drafts, tuned, grids::lattice_boltzmann, outputs, |to| for_each_2d(rows, columns), {
        let planes = from.view_3d(rows, columns)?.into_layers()?;
        (1.2, planes, to.view_3d_mut(rows, columns)?.into_layers()?)
    });
    assert_alike(&outputs)
}

#[test]
fn rows() -> Result<(), Error> {
    let (device, drafts, tuned) = modules();
    let (rows, columns) = (5, 777);
    let x = device.upload(&noise(rows * columns))?;
    let (scale, offset) = (device.upload(&noise(columns))?, device.filled(columns, 0.5_f32)?);
    let grid = LaunchConfig::new((1, rows), 256);
    let mut outputs = zeros(&device, x.len())?;
    let [first, second] = &mut outputs;
    let of_columns = columns as u32;
    drafts.launch(draft::rows::softmax, grid, (of_columns, &x, first.view_2d_mut(columns)?))?;
    tuned.launch(
        benchmark_tuned::rows::softmax,
        grid,
        (x.view_2d(columns)?, second.view_2d_mut(columns)?),
    )?;
    assert_alike(&outputs)?;
    let [first, second] = &mut outputs;
    drafts.launch(
        draft::rows::layer_norm,
        grid,
        (of_columns, &x, &scale, &offset, first.view_2d_mut(columns)?),
    )?;
    tuned.launch(
        benchmark_tuned::rows::layer_norm,
        grid,
        (x.view_2d(columns)?, &scale, &offset, second.view_2d_mut(columns)?),
    )?;
    assert_alike(&outputs)?;
    let starts: Vec<u32> = [0, 3, 3, 70, 71, 200].to_vec();
    let places: Vec<u32> = noise(200).into_iter().map(|x| (x * columns as f32) as u32).collect();
    let (starts, places) = (device.upload(&starts)?, device.upload(&places)?);
    let values = device.upload(&noise(200))?;
    let mut outputs = zeros(&device, rows)?;
    both!(drafts, tuned, rows::sparse_product, outputs, |y| LaunchConfig::new(1, 256), {
        (&starts, &places, &values, &scale, y)
    });
    assert_alike(&outputs)
}

#[test]
fn what_is_computed_for_each_element() -> Result<(), Error> {
    let (device, drafts, tuned) = modules();
    let len = 1000;
    let numbers = |from: f32| device.upload(&noise(len).iter().map(|x| from + x).collect::<Vec<_>>());
    let (stocks, strikes, years) = (numbers(5.0)?, numbers(4.0)?, numbers(0.25)?);
    let (mut calls, mut puts) = (zeros(&device, len)?, zeros(&device, len)?);
    let ([call, other_call], [put, other_put]) = (&mut calls, &mut puts);
    drafts.launch(draft::scalar::black_scholes, for_each(len), (&stocks, &strikes, &years, call, put))?;
    tuned.launch(
        benchmark_tuned::scalar::black_scholes,
        for_each(len),
        (&stocks, &strikes, &years, other_call, other_put),
    )?;
    assert_alike(&calls)?;
    assert_alike(&puts)?;
    let bodies: Vec<[f32; 4]> =
        noise(4 * len).chunks(4).map(|body| body.try_into().unwrap_or_default()).collect();
    let bodies = device.upload(&bodies)?;
    let mut outputs = [device.zeroed::<[f32; 3]>(len)?, device.zeroed::<[f32; 3]>(len)?];
    both!(drafts, tuned, particles::n_body, outputs, |to| for_each(len), (&bodies, to));
    let [first, second] = outputs;
    assert_close(second.to_vec()?.as_flattened(), first.to_vec()?.as_flattened());
    let points: Vec<[f32; 2]> = noise(4096).chunks(2).map(|point| [point[0], point[1]]).collect();
    let x = device.upload(&points)?;
    let mut outputs = [device.zeroed::<[f32; 2]>(2048)?, device.zeroed::<[f32; 2]>(2048)?];
    both!(drafts, tuned, sorting::fft_1024, outputs, |to| LaunchConfig::new(2, 256), (&x, to));
    let [first, second] = outputs;
    assert_close(second.to_vec()?.as_flattened(), first.to_vec()?.as_flattened());
    Ok(())
}

#[test]
fn streams() -> Result<(), Error> {
    let (device, drafts, tuned) = modules();
    let len = 5000;
    let (a, b) = (device.filled(len, 0.1_f64)?, device.filled(len, 0.2_f64)?);
    let mut outputs = [device.zeroed::<f64>(len)?, device.zeroed::<f64>(len)?];
    both!(drafts, tuned, streams::copy, outputs, |c| for_each(len), (&a, c));
    assert_eq!(outputs[0].to_vec()?, outputs[1].to_vec()?);
    both!(drafts, tuned, streams::multiply, outputs, |c| for_each(len), (c, &a));
    assert_eq!(outputs[0].to_vec()?, outputs[1].to_vec()?);
    both!(drafts, tuned, streams::add, outputs, |c| for_each(len), (&a, &b, c));
    assert_eq!(outputs[0].to_vec()?, outputs[1].to_vec()?);
    both!(drafts, tuned, streams::triad, outputs, |c| for_each(len), (c, &a, &b));
    assert_eq!(outputs[0].to_vec()?, outputs[1].to_vec()?);
    let mut sums = [device.zeroed::<f64>(2)?, device.zeroed::<f64>(2)?];
    both!(drafts, tuned, streams::dot, sums, |c| LaunchConfig::new(2, 1024), (&a, &b, c));
    assert_eq!(sums[0].to_vec()?, sums[1].to_vec()?);
    let bytes = device.upload(&noise(len).iter().map(|x| (x * 256.0) as u8).collect::<Vec<_>>())?;
    let mut bins = [device.zeroed::<u32>(256)?, device.zeroed::<u32>(256)?];
    both!(drafts, tuned, streams::histogram, bins, |bins| LaunchConfig::new(3, 256), (&bytes, bins));
    assert_eq!(bins[0].to_vec()?, bins[1].to_vec()?);
    let places = device.upload(&noise(len).iter().map(|x| (x * 99.0) as u32).collect::<Vec<_>>())?;
    let added = device.filled(len, 1.0_f32)?;
    let mut sums = zeros(&device, 99)?;
    both!(drafts, tuned, streams::scatter_add, sums, |sums| LaunchConfig::new(3, 256), {
        (&places, &added, sums)
    });
    assert_alike(&sums)
}

#[test]
fn products_of_matrices() -> Result<(), Error> {
    let (device, drafts, _) = modules();
    let (rows, inner, columns) = (150, 37, 130);
    let (a, b) = (noise(rows * inner), noise(inner * columns));
    let sum = |i: usize, j: usize| (0..inner).map(|k| a[i * inner + k] * b[k * columns + j]).sum();
    let expected: Vec<f32> = (0..rows * columns).map(|at| sum(at / columns, at % columns)).collect();
    let (on_a, on_b) = (device.upload(&a)?, device.upload(&b)?);
    let mut c = device.zeroed::<f32>(rows * columns)?;
    drafts.launch(
        draft::dense::sgemm,
        LaunchConfig::new((2, 2), (16, 16)),
        (on_a.view_2d(inner)?, on_b.view_2d(columns)?, c.view_2d_mut(columns)?),
    )?;
    assert_close(&c.to_vec()?, &expected);
    drafts.launch(
        draft::dense::product,
        LaunchConfig::new((5, 5), (32, 32)),
        (on_a.view_2d(inner)?, on_b.view_2d(columns)?, c.view_2d_mut(columns)?),
    )?;
    assert_close(&c.to_vec()?, &expected);
    Ok(())
}

/// `U 1 = U`, and a product with `i` on the diagonal.
#[test]
fn products_of_su3() -> Result<(), Error> {
    use draft::lattices::{LINKS, Matrix};
    let (device, drafts, _) = modules();
    let numbers = noise(18 * 300);
    let links: Vec<Matrix> = numbers
        .chunks(18)
        .map(|all| {
            std::array::from_fn(|i| {
                std::array::from_fn(|j| Complex::new(all[6 * i + 2 * j], all[6 * i + 2 * j + 1]))
            })
        })
        .collect();
    let diagonal = |value: Complex<f32>| -> Matrix {
        std::array::from_fn(|i| std::array::from_fn(|j| if i == j { value } else { Complex::default() }))
    };
    let mut directions = [diagonal(Complex::new(1.0, 0.0)); LINKS];
    directions[1] = diagonal(Complex::new(0.0, 1.0));
    let mut products = device.zeroed::<Matrix>(links.len())?;
    drafts.launch(
        draft::lattices::su3,
        for_each(links.len()),
        (&device.upload(&links)?, &device.upload(&directions)?, &mut products),
    )?;
    let turned = |i: usize, z: Complex<f32>| if i % LINKS == 1 { Complex::new(-z.im, z.re) } else { z };
    let expected: Vec<Matrix> =
        links.iter().enumerate().map(|(i, link)| link.map(|row| row.map(|x| turned(i, x)))).collect();
    assert_eq!(products.to_vec()?, expected);
    Ok(())
}

#[test]
fn lookups() -> Result<(), Error> {
    use draft::lookups::{FEATURES, Point, SECTIONS};
    let (device, drafts, _) = modules();
    let count = 300;
    let numbers = noise(FEATURES * count);
    let centres: Vec<[f32; FEATURES]> =
        noise(FEATURES * 4).chunks(FEATURES).map(|all| all.try_into().unwrap_or([0.0; FEATURES])).collect();
    let distance = |i: usize, centre: &[f32; FEATURES]| -> f32 {
        (0..FEATURES).map(|feature| (numbers[feature * count + i] - centre[feature]).powi(2)).sum()
    };
    let points = device.upload(&numbers)?;
    let mut nearest = device.zeroed::<u32>(count)?;
    drafts.launch(
        draft::lookups::nearest_centre,
        for_each(count),
        (points.view_2d(count)?, &device.upload(&centres)?, &mut nearest),
    )?;
    for (i, nearest) in nearest.to_vec()?.into_iter().enumerate() {
        let least = centres.iter().map(|centre| distance(i, centre)).fold(f32::INFINITY, f32::min);
        assert!(distance(i, &centres[nearest as usize]) <= least * 1.0001, "{i}");
    }
    // Sections that are linear in the energy: interpolated, they are exact.
    let point =
        |i: usize| Point { energy: i as f64, sections: std::array::from_fn(|k| (i * (k + 1)) as f64) };
    let nuclides: Vec<Point> = (0..2).flat_map(|_| (0..9).map(point)).collect();
    let nuclides = device.upload(&nuclides)?;
    let densities = device.upload(&[1.0, 0.0, 0.5, 2.0])?;
    let energies: Vec<f64> = (0..100).map(|i| f64::from(i) * 0.08).collect();
    let materials: Vec<u32> = (0..100).map(|i| i % 2).collect();
    let mut sums = device.zeroed::<[f64; SECTIONS]>(100)?;
    drafts.launch(
        draft::lookups::cross_sections,
        for_each(100),
        (
            nuclides.view_2d(9)?,
            densities.view_2d(2)?,
            &device.upload(&energies)?,
            &device.upload(&materials)?,
            &mut sums,
        ),
    )?;
    for (i, sums) in sums.to_vec()?.into_iter().enumerate() {
        for (k, sum) in sums.into_iter().enumerate() {
            let expected = energies[i] * (k + 1) as f64 * if i % 2 == 0 { 1.0 } else { 2.5 };
            assert!((sum - expected).abs() < 1e-9, "{i}, {k}: {sum} instead of {expected}");
        }
    }
    Ok(())
}

/// The forces of all pairs of particles whose boxes touch, in `f64`.
#[test]
fn particles_in_boxes() -> Result<(), Error> {
    use draft::boxes::{Force, PARTICLES, Position};
    let (device, drafts, tuned) = modules();
    let (extents, a2) = ([2, 3, 4], 0.5);
    let boxes = Boxes::new(extents);
    let count = boxes.positions.len();
    let grid = for_each_tile(count * PARTICLES, PARTICLES);
    let neighbours = device.upload(&boxes.neighbours)?;
    let (positions, charges) = (device.upload(&boxes.positions)?, device.upload(&boxes.charges)?);
    let mut by_draft = device.zeroed::<Force>(count * PARTICLES)?;
    drafts.launch(draft::boxes::lava_md, grid, (a2, &neighbours, &positions, &charges, &mut by_draft))?;
    let flat_positions: &[benchmark_tuned::boxes::Position] =
        bytemuck::cast_slice(boxes.positions.as_flattened());
    let mut by_tuned = device.zeroed::<benchmark_tuned::boxes::Force>(count * PARTICLES)?;
    tuned.launch(
        benchmark_tuned::boxes::lava_md,
        grid,
        (
            a2,
            neighbours.cast::<benchmark_tuned::boxes::Neighbours>()?,
            &device.upload(flat_positions)?,
            &device.upload(boxes.charges.as_flattened())?,
            &mut by_tuned,
        ),
    )?;
    let place = |i: usize| [i / 12, i / 4 % 3, i % 4];
    let touch = |a: usize, b: usize| place(a).into_iter().zip(place(b)).all(|(a, b)| a.abs_diff(b) <= 1);
    let numbers = |at: &Position| [at.v, at.x, at.y, at.z].map(f64::from);
    let of_particle = |home: usize, at: &Position| {
        let [v, here @ ..] = numbers(at);
        let mut sum = [0.0; 4];
        for other in (0..count).filter(|other| touch(home, *other)) {
            for (at, charge) in boxes.positions[other].iter().zip(boxes.charges[other]) {
                let [other_v, there @ ..] = numbers(at);
                let dot: f64 = here.iter().zip(there).map(|(a, b)| a * b).sum();
                let potential = f64::from(charge) * (f64::from(a2) * (dot - v - other_v)).exp();
                sum[0] += potential;
                for (sum, (a, b)) in sum[1..].iter_mut().zip(here.iter().zip(there)) {
                    *sum += 2.0 * potential * (a - b);
                }
            }
        }
        sum.map(|x| x as f32)
    };
    let expected: Vec<f32> = (boxes.positions.iter().enumerate())
        .flat_map(|(home, all)| all.iter().flat_map(move |at| of_particle(home, at)))
        .collect();
    assert_close(bytemuck::cast_slice(&by_draft.to_vec()?), &expected);
    assert_close(bytemuck::cast_slice(&by_tuned.to_vec()?), &expected);
    Ok(())
}

/// Turns one axis after the other instead of by a matrix, in `f64`. The last block has poses for some of its threads only.
#[test]
fn energies_of_poses() -> Result<(), Error> {
    use draft::docking::{Atom, BOTH_BONDS, CHARGED, Parameters, TILE};
    let (device, drafts, _) = modules();
    let count = TILE + 150;
    let docking = Docking::new(60, 7, count);
    let Docking { protein, ligand, force_field, poses } = &docking;
    let mut energies = device.zeroed::<f32>(count)?;
    drafts.launch(
        draft::docking::mini_bude,
        for_each_tile(count, TILE),
        (
            &device.upload(protein)?,
            &device.upload(ligand)?,
            &device.upload(force_field)?,
            device.upload(poses)?.view_2d(count)?,
            &mut energies,
            force_field.len(),
        ),
    )?;
    let turn =
        |angle: f64, [a, b]: [f64; 2]| [a * angle.cos() - b * angle.sin(), a * angle.sin() + b * angle.cos()];
    let posed = |pose: usize, atom: &Atom| {
        let number = |k: usize| f64::from(poses[k * count + pose]);
        let [x, y, z] = [atom.x, atom.y, atom.z].map(f64::from);
        let [y, z] = turn(number(0), [y, z]);
        let [z, x] = turn(number(1), [z, x]);
        let [x, y] = turn(number(2), [x, y]);
        [x + number(3), y + number(4), z + number(5)]
    };
    let energy = |a: &Parameters, b: &Parameters, distance: f64| {
        let [radii, charges, a_water, b_water] =
            [a.radius + b.radius, a.elsc * b.elsc, a.hphb, b.hphb].map(f64::from);
        let gap = distance - radii;
        let within = |reach: f64| (1.0 - gap / reach).clamp(0.0, 1.0);
        let overlap = 76.0 * (-gap / radii).max(0.0);
        let sign = if [a.hbtype, b.hbtype].contains(&BOTH_BONDS) { -charges.signum() } else { 1.0 };
        let reach = if [a.hbtype, b.hbtype] == [CHARGED; 2] { 4.0 } else { 2.0 };
        let water = match (a_water < 0.0, b_water < 0.0) {
            _ if b_water == 0.0 => 0.0,
            (true, true) => (a_water + b_water) * within(5.5),
            (true, false) => (b_water - a_water) * within(1.0),
            (false, true) if a_water == 0.0 => b_water * within(1.0),
            (false, true) => (a_water - b_water) * within(1.0),
            (false, false) => 0.0,
        };
        overlap + 45.0 * sign * charges * within(reach) + water
    };
    let of_pose = |pose: usize| {
        let mut sum = 0.0;
        for atom in ligand {
            let [x, y, z] = posed(pose, atom);
            for other in protein {
                let [dx, dy, dz] = [x - f64::from(other.x), y - f64::from(other.y), z - f64::from(other.z)];
                let parameters = |atom: &Atom| &force_field[atom.kind as usize];
                let distance = (dx * dx + dy * dy + dz * dz).sqrt();
                sum += energy(parameters(atom), parameters(other), distance);
            }
        }
        (0.5 * sum) as f32
    };
    let expected: Vec<f32> = (0..count).map(of_pose).collect();
    assert!(expected.iter().any(|energy| *energy < -1.0) && expected.iter().any(|energy| *energy > 1.0));
    assert_close(&energies.to_vec()?, &expected);
    Ok(())
}
