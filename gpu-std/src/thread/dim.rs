//! Extents and positions along the three axes of a launch.

/// A number of blocks or threads along each axis, or the index of one of them (CUDA's `dim3`, `uint3`).
///
/// Numbers and indices of threads within a block, and those of blocks, fit in 32 bits on every device (CUDA C++
/// Programming Guide, "Technical Specifications per Compute Capability").
///
/// ```
/// use gpu_std::Dim3;
///
/// assert_eq!(Dim3::from((32, 8)), Dim3::new(32, 8, 1));
/// assert_eq!(Dim3::from(256).count(), 256);
/// ```
#[doc(alias = "dim3", alias = "uint3")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(C)]
pub struct Dim3 {
    /// Along the first axis, the one along which neighbouring threads use neighbouring memory.
    pub x: u32,
    /// Along the second axis.
    pub y: u32,
    /// Along the third axis.
    pub z: u32,
}

impl Dim3 {
    /// Creates a `Dim3` from its components.
    pub const fn new(x: u32, y: u32, z: u32) -> Self {
        Self { x, y, z }
    }

    /// Returns the product of the components. It is exact: it needs at most 96 bits.
    pub const fn count(self) -> u128 {
        self.x as u128 * self.y as u128 * self.z as u128
    }
}

impl From<u32> for Dim3 {
    fn from(x: u32) -> Self {
        Self::new(x, 1, 1)
    }
}

impl From<(u32, u32)> for Dim3 {
    fn from((x, y): (u32, u32)) -> Self {
        Self::new(x, y, 1)
    }
}

impl From<(u32, u32, u32)> for Dim3 {
    fn from((x, y, z): (u32, u32, u32)) -> Self {
        Self::new(x, y, z)
    }
}

impl From<[u32; 3]> for Dim3 {
    fn from([x, y, z]: [u32; 3]) -> Self {
        Self::new(x, y, z)
    }
}
