//! Accesses to memory: which memory, how many bytes a thread, and how many transactions a warp takes for them.

use serde::{Deserialize, Serialize};

use crate::facts::sass;

/// The threads of a warp.
const WARP: i64 = 32;
/// The bytes that a warp gets from global memory at a time (CUDA C++ Best Practices Guide, "Coalesced Access to Global Memory").
const SECTOR: i64 = 32;
/// Banks of shared memory, of 4 bytes each.
const BANKS: i64 = 32;

/// An access to memory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Access {
    /// The memory.
    pub space: MemorySpace,
    /// What is done with it.
    pub kind: AccessKind,
    /// Bytes per thread.
    pub bytes: u32,
    /// By how many bytes the address grows from each thread of a warp to the next, if that could be derived.
    pub stride: Option<i64>,
    /// What a warp takes, if the stride is known.
    pub cost: Option<AccessCost>,
}

/// A memory of the GPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum MemorySpace {
    /// Global memory.
    Global,
    /// Shared memory of the block, or of the cluster.
    Shared,
    /// Local memory of the thread: its stack, in global memory.
    Local,
    /// Constant memory, with the parameters.
    Constant,
    /// Whichever the address is in.
    Generic,
}

/// What an access does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum AccessKind {
    /// Reads.
    Load,
    /// Writes.
    Store,
    /// Reads and writes at once.
    Atomic,
    /// Copies from global to shared memory.
    Copy,
}

/// What one access of a whole warp takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum AccessCost {
    /// Of global memory.
    Sectors {
        /// Sectors of 32 bytes that are moved.
        moved: u32,
        /// Sectors that as many bytes take if they are neighbours.
        needed: u32,
    },
    /// Of shared memory.
    Banks {
        /// How often a bank is asked for different words: 1 without conflicts.
        ways: u32,
    },
}

impl AccessCost {
    /// Whether it takes more than it has to: uncoalesced, or with bank conflicts.
    ///
    /// ```
    /// use gpukernel_build::AccessCost;
    ///
    /// assert!(AccessCost::Banks { ways: 2 }.is_wasteful());
    /// assert!(!AccessCost::Sectors { moved: 4, needed: 4 }.is_wasteful());
    /// ```
    pub fn is_wasteful(&self) -> bool {
        match self {
            Self::Sectors { moved, needed } => moved > needed,
            Self::Banks { ways } => *ways > 1,
        }
    }

    /// For threads whose addresses differ by `stride`, the first being aligned.
    fn of(space: MemorySpace, bytes: u32, stride: i64) -> Option<Self> {
        // Downwards as upwards.
        let (width, stride) = (i64::from(bytes), stride.saturating_abs());
        match space {
            MemorySpace::Global => {
                let mut sectors: Vec<_> = (0..WARP)
                    .flat_map(|lane| {
                        let start = lane * stride;
                        start.div_euclid(SECTOR)..=(start + width - 1).div_euclid(SECTOR)
                    })
                    .collect();
                sectors.sort_unstable();
                sectors.dedup();
                let needed =
                    if stride == 0 { (width - 1) / SECTOR + 1 } else { (WARP * width - 1) / SECTOR + 1 };
                Some(Self::Sectors { moved: sectors.len() as u32, needed: needed as u32 })
            }
            MemorySpace::Shared => {
                // Wide accesses are done for halves and quarters of a warp.
                let together = WARP / (width / 4).clamp(1, 4);
                let mut words: Vec<_> = (0..together)
                    .flat_map(|lane| {
                        let start = lane * stride;
                        start.div_euclid(4)..=(start + width - 1).div_euclid(4)
                    })
                    .collect();
                words.sort_unstable();
                words.dedup();
                let of_bank = |bank: i64| words.iter().filter(|word| word.rem_euclid(BANKS) == bank).count();
                let ways = (0..BANKS).map(of_bank).max().unwrap_or_default();
                Some(Self::Banks { ways: ways as u32 })
            }
            _ => None,
        }
    }
}

impl Access {
    fn new(space: MemorySpace, kind: AccessKind, bytes: u32) -> Self {
        Self { space, kind, bytes, stride: None, cost: None }
    }

    pub(super) fn with_stride(mut self, stride: Option<i64>) -> Self {
        self.stride = stride;
        self.cost = stride.and_then(|stride| AccessCost::of(self.space, self.bytes, stride));
        self
    }

    /// That of an instruction of PTX: `ld.global.nc.v2.b32`.
    pub(super) fn of_ptx(opcode: &str) -> Option<Self> {
        let parts: Vec<_> = opcode.split('.').collect();
        let has = |part: &str| {
            parts.contains(&part) || parts.iter().any(|one| one.starts_with(&format!("{part}::")))
        };
        let kind = match parts[0] {
            "ld" | "ldu" => AccessKind::Load,
            "st" => AccessKind::Store,
            "atom" | "red" => AccessKind::Atomic,
            _ => return None,
        };
        let space = [
            ("global", MemorySpace::Global),
            ("shared", MemorySpace::Shared),
            ("local", MemorySpace::Local),
            ("const", MemorySpace::Constant),
            ("param", MemorySpace::Constant),
        ];
        let space =
            space.iter().find(|(name, _)| has(name)).map_or(MemorySpace::Generic, |(_, space)| *space);
        let bits: u32 = parts.last()?.trim_start_matches(|c: char| c.is_ascii_alphabetic()).parse().ok()?;
        let count =
            [("v2", 2), ("v4", 4), ("v8", 8)].iter().find(|(name, _)| has(name)).map_or(1, |(_, n)| *n);
        Some(Self::new(space, kind, bits / 8 * count))
    }

    /// That of an instruction of machine code.
    pub(super) fn of_sass(instruction: &sass::Instruction<'_>) -> Option<Self> {
        use AccessKind::*;
        use MemorySpace::*;
        let (space, kind) = match instruction.base() {
            "LDG" => (Global, Load),
            "STG" => (Global, Store),
            "LDS" => (Shared, Load),
            "STS" => (Shared, Store),
            "LDL" => (Local, Load),
            "STL" => (Local, Store),
            "LDC" | "ULDC" | "LDCU" => (Constant, Load),
            "LD" => (Generic, Load),
            "ST" => (Generic, Store),
            "ATOMG" | "RED" | "REDG" => (Global, Atomic),
            "ATOMS" => (Shared, Atomic),
            "ATOM" => (Generic, Atomic),
            "LDGSTS" => (Global, Copy),
            _ => return None,
        };
        let width = |part: &str| match part {
            "U8" | "S8" => Some(1),
            "U16" | "S16" => Some(2),
            "64" => Some(8),
            "128" => Some(16),
            "256" => Some(32),
            _ => None,
        };
        let bytes = instruction.opcode.split('.').skip(1).find_map(width).unwrap_or(4);
        Some(Self::new(space, kind, bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cost(space: MemorySpace, bytes: u32, stride: i64) -> (u32, u32) {
        match AccessCost::of(space, bytes, stride) {
            Some(AccessCost::Sectors { moved, needed }) => (moved, needed),
            Some(AccessCost::Banks { ways }) => (ways, 1),
            None => (0, 0),
        }
    }

    #[test]
    fn neighbours_in_global_memory_share_sectors() {
        for (bytes, stride, expected) in [
            (4, 4, (4, 4)),
            (4, -4, (4, 4)),
            (4, 0, (1, 1)),
            (4, 8, (8, 4)),
            (4, 128, (32, 4)),
            (16, 16, (16, 16)),
            (8, 12, (12, 8)),
            (1, 1, (1, 1)),
        ] {
            assert_eq!(cost(MemorySpace::Global, bytes, stride), expected, "{bytes} bytes, stride {stride}");
        }
    }

    #[test]
    fn banks_of_shared_memory_conflict_by_the_stride() {
        for (bytes, stride, ways) in [
            (4, 4, 1),
            (4, 0, 1),
            (4, 8, 2),
            (4, 128, 32),
            (4, 132, 1),
            (8, 8, 1),
            (16, 16, 1),
            (1, 1, 1),
            (8, 16, 2),
        ] {
            assert_eq!(cost(MemorySpace::Shared, bytes, stride), (ways, 1), "{bytes} bytes, stride {stride}");
        }
    }

    #[test]
    fn instructions_say_memory_and_width() {
        let of =
            |opcode: &str| Access::of_ptx(opcode).map(|access| (access.space, access.kind, access.bytes));
        use AccessKind::*;
        use MemorySpace::*;
        assert_eq!(of("ld.global.nc.v2.b32"), Some((Global, Load, 8)));
        assert_eq!(of("st.shared::cta.b16"), Some((Shared, Store, 2)));
        assert_eq!(of("atom.relaxed.gpu.global.add.u32"), Some((Global, Atomic, 4)));
        assert_eq!(of("ld.b64"), Some((Generic, Load, 8)));
        assert_eq!(of("ld.param.b64"), Some((Constant, Load, 8)));
        assert_eq!(of("add.s32"), None);
        let of = |opcode| {
            let instruction = sass::Instruction { opcode, ..Default::default() };
            Access::of_sass(&instruction).map(|access| (access.space, access.kind, access.bytes))
        };
        assert_eq!(of("LDG.E.128.CONSTANT"), Some((Global, Load, 16)));
        assert_eq!(of("STL"), Some((Local, Store, 4)));
        assert_eq!(of("LDS.U8"), Some((Shared, Load, 1)));
        assert_eq!(of("IADD3"), None);
    }
}
