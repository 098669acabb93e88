//! Energies of a molecule that docks to a protein: what miniBUDE computes.

use core::array;

use gpu_std::prelude::*;

/// Threads of a block.
pub const THREADS: usize = 64;
/// Poses of a thread, this far from one another as a block has threads.
pub const POSES: usize = 4;
/// Poses of a block.
pub const TILE: usize = THREADS * POSES;
/// Numbers of a pose: angles around three axes, and shifts along them.
pub const FREEDOMS: usize = 6;

/// An atom, of the protein or of the ligand. Aligned, so that it is one load.
#[derive(Clone, Copy, Debug, Default, DeviceCopy)]
#[repr(C, align(16))]
pub struct Atom {
    /// Along the first axis.
    pub x: f32,
    /// Along the second axis.
    pub y: f32,
    /// Along the third axis.
    pub z: f32,
    /// Its entry in the force field.
    pub kind: u32,
}

/// The atom has no hydrogen bonds that matter here.
pub const NO_BONDS: u32 = 0;
/// The atom gives and takes hydrogen bonds: what charges do attracts.
pub const BOTH_BONDS: u32 = 1;
/// The atom has a charge: two of these act further.
pub const CHARGED: u32 = 2;

/// What the force field knows of a kind of atom.
#[derive(Clone, Copy, Debug, Default, DeviceCopy, bytemuck::AnyBitPattern)]
#[repr(C, align(16))]
pub struct Parameters {
    /// [`NO_BONDS`], [`BOTH_BONDS`] or [`CHARGED`].
    pub hbtype: u32,
    /// The radius.
    pub radius: f32,
    /// How much it likes water; less than 0 if it does not.
    pub hphb: f32,
    /// The charge.
    pub elsc: f32,
}

/// The energy of two atoms that overlap wholly.
const HARDNESS: f32 = 38.0;
/// The energy of two charges of 1.
const ELECTROSTATIC: f32 = 45.0;

/// How far from contact something acts.
#[derive(Clone, Copy)]
struct Reach {
    gap: f32,
    inverse: f32,
}

impl Reach {
    const fn new(gap: f32) -> Self {
        Self { gap, inverse: 1.0 / gap }
    }

    /// How much acts: all of it on atoms that touch, and less with the gap between them.
    fn at(self, gap: f32) -> f32 {
        if gap < 0.0 {
            1.0
        } else if gap < self.gap {
            1.0 - gap * self.inverse
        } else {
            0.0
        }
    }
}

/// Of charges, between two atoms that are [`CHARGED`] and between others.
const CHARGES: [Reach; 2] = [Reach::new(4.0), Reach::new(2.0)];
/// Of water that is displaced, between two atoms that do not like it and between one of these and another.
const WATER: [Reach; 2] = [Reach::new(5.5), Reach::new(1.0)];

/// What is the same for two atoms in each pose.
struct Pair {
    radii: f32,
    inverse_radii: f32,
    charge: f32,
    charge_reach: Reach,
    water: f32,
    water_reach: Reach,
}

impl Pair {
    fn new(ligand: &Parameters, protein: &Parameters) -> Self {
        let radii = ligand.radius + protein.radius;
        let product = ELECTROSTATIC * ligand.elsc * protein.elsc;
        let attracts = ligand.hbtype == BOTH_BONDS || protein.hbtype == BOTH_BONDS;
        let charged = ligand.hbtype == CHARGED && protein.hbtype == CHARGED;
        let (hates_water, other_hates_water) = (ligand.hphb < 0.0, protein.hphb < 0.0);
        let water = if protein.hphb == 0.0 || !(hates_water || other_hates_water) {
            0.0
        } else if ligand.hphb * protein.hphb < 0.0 {
            ligand.hphb.abs() + protein.hphb.abs()
        } else {
            ligand.hphb + protein.hphb
        };
        Self {
            radii,
            inverse_radii: 1.0 / radii,
            charge: if attracts { -product.abs() } else { product },
            charge_reach: if charged { CHARGES[0] } else { CHARGES[1] },
            water,
            water_reach: if hates_water && other_hates_water { WATER[0] } else { WATER[1] },
        }
    }

    /// The energy at a distance: of the overlap, of the charges, and of the water between the atoms.
    fn energy(&self, distance: f32) -> f32 {
        let gap = distance - self.radii;
        let overlap = if gap < 0.0 { 2.0 * HARDNESS * (1.0 - distance * self.inverse_radii) } else { 0.0 };
        overlap + self.charge * self.charge_reach.at(gap) + self.water * self.water_reach.at(gap)
    }
}

/// The rows of a rotation, each with a shift behind it.
type Transform = [[f32; 4]; 3];

/// Turns around the first axis, then around the second and the third, and shifts.
fn transform([a, b, c, x, y, z]: [f32; FREEDOMS]) -> Transform {
    let ((sin_a, cos_a), (sin_b, cos_b), (sin_c, cos_c)) = (a.sin_cos(), b.sin_cos(), c.sin_cos());
    [
        [cos_b * cos_c, sin_a * sin_b * cos_c - cos_a * sin_c, cos_a * sin_b * cos_c + sin_a * sin_c, x],
        [cos_b * sin_c, sin_a * sin_b * sin_c + cos_a * cos_c, cos_a * sin_b * sin_c - sin_a * cos_c, y],
        [-sin_b, sin_a * cos_b, cos_a * cos_b, z],
    ]
}

/// The energies of the poses of a ligand, the columns of `poses`. A block keeps the force field in shared memory.
#[kernel(block = THREADS as u32)]
pub fn mini_bude(
    protein: &[Atom],
    ligand: &[Atom],
    force_field: &[Parameters],
    poses: View2d<f32>,
    energies: BlockTiles<f32, TILE>,
    mut kinds: SharedSlice<Parameters>,
) {
    for (i, kind) in &mut kinds {
        *kind = force_field[i];
    }
    let kinds = sync(kinds);
    for mut tile in energies {
        let first = tile.first() + thread_rank() as usize;
        let transforms: [Transform; POSES] = array::from_fn(|n| {
            let number = |k| poses.get((k, first + n * THREADS)).copied().unwrap_or(0.0);
            transform(array::from_fn(number))
        });
        let mut sums = [0.0; POSES];
        for atom in ligand {
            let of_ligand = &kinds[atom.kind as usize];
            let places = transforms
                .map(|rows| rows.map(|[x, y, z, shift]| shift + x * atom.x + y * atom.y + z * atom.z));
            for other in protein {
                let pair = Pair::new(of_ligand, &kinds[other.kind as usize]);
                for (sum, [x, y, z]) in sums.iter_mut().zip(places) {
                    let (x, y, z) = (x - other.x, y - other.y, z - other.z);
                    *sum += pair.energy((x * x + y * y + z * z).sqrt());
                }
            }
        }
        for ((_, energy), sum) in tile.iter_mut().zip(sums) {
            *energy = 0.5 * sum;
        }
    }
}
