//! Inputs of the kernels for particles in boxes and for docking, which the benchmarks and their tests share.

use std::f32::consts::TAU;

use benchmark_kernels::draft::{
    boxes::{NEIGHBOURS, Neighbours, PARTICLES, Position},
    docking::{Atom, BOTH_BONDS, CHARGED, FREEDOMS, NO_BONDS, Parameters},
};

use crate::noise;

/// What is in the boxes of a grid.
#[derive(Clone, Debug)]
pub struct Boxes {
    /// The boxes around each.
    pub neighbours: Vec<Neighbours>,
    /// Where the particles of each box are.
    pub positions: Vec<[Position; PARTICLES]>,
    /// Their charges.
    pub charges: Vec<[f32; PARTICLES]>,
}

impl Boxes {
    /// Boxes in so many layers, rows and columns.
    pub fn new(extents: [usize; 3]) -> Self {
        let count = extents.iter().product();
        let numbers = noise(5 * PARTICLES * count);
        let (positions, charges) = numbers.split_at(4 * PARTICLES * count);
        let position = |all: &[f32]| Position { v: all[0], x: all[1], y: all[2], z: all[3] };
        Self {
            neighbours: (0..count).map(|home| neighbours(extents, home)).collect(),
            positions: (positions.chunks(4 * PARTICLES))
                .map(|all| std::array::from_fn(|i| position(&all[4 * i..])))
                .collect(),
            charges: charges.chunks(PARTICLES).map(|all| std::array::from_fn(|i| all[i])).collect(),
        }
    }
}

/// The boxes that share a corner, an edge or a side with one.
fn neighbours([layers, rows, columns]: [usize; 3], home: usize) -> Neighbours {
    let (layer, row, column) = (home / (rows * columns), home / columns % rows, home % columns);
    let around = |at: usize, extent: usize| at.saturating_sub(1)..(at + 2).min(extent);
    let mut found = Neighbours { count: 0, numbers: [0; NEIGHBOURS] };
    for k in around(layer, layers) {
        for j in around(row, rows) {
            for i in around(column, columns) {
                let number = (k * rows + j) * columns + i;
                if number != home {
                    found.numbers[found.count as usize] = number as u32;
                    found.count += 1;
                }
            }
        }
    }
    found
}

/// A protein, a ligand, what is known of their atoms, and poses to try.
#[derive(Clone, Debug)]
pub struct Docking {
    /// The atoms of the protein.
    pub protein: Vec<Atom>,
    /// The atoms of the ligand.
    pub ligand: Vec<Atom>,
    /// The kinds of atoms.
    pub force_field: Vec<Parameters>,
    /// The numbers of the poses: a row for each of the [`FREEDOMS`].
    pub poses: Vec<f32>,
}

/// Kinds of atoms.
const KINDS: usize = 24;
/// The length of a cube around the protein's atoms, in Å; a ligand's is a quarter of that.
const EXTENT: f32 = 20.0;

impl Docking {
    /// So many atoms of each, and poses.
    pub fn new(protein: usize, ligand: usize, poses: usize) -> Self {
        let numbers = noise(4 * (protein + ligand) + 3 * KINDS);
        let (of_protein, rest) = numbers.split_at(4 * protein);
        let (of_ligand, of_kinds) = rest.split_at(4 * ligand);
        let atoms = |numbers: &[f32], extent: f32| {
            let place = |x: f32| (x - 0.5) * extent;
            let atom = |all: &[f32]| Atom {
                x: place(all[0]),
                y: place(all[1]),
                z: place(all[2]),
                kind: (all[3] * KINDS as f32) as u32,
            };
            numbers.chunks(4).map(atom).collect()
        };
        let kind = |(i, all): (usize, &[f32])| Parameters {
            hbtype: [NO_BONDS, BOTH_BONDS, CHARGED, NO_BONDS, CHARGED][i % 5],
            radius: 1.2 + all[0],
            // Every sixth kind neither likes water nor hates it.
            hphb: if i % 6 == 0 { 0.0 } else { all[1] - 0.5 },
            elsc: all[2] - 0.5,
        };
        let pose = |(i, x): (usize, f32)| if i < 3 * poses { x * TAU } else { (x - 0.5) * EXTENT };
        Self {
            protein: atoms(of_protein, EXTENT),
            ligand: atoms(of_ligand, EXTENT / 4.0),
            force_field: of_kinds.chunks(3).enumerate().map(kind).collect(),
            poses: noise(FREEDOMS * poses).into_iter().enumerate().map(pose).collect(),
        }
    }
}
