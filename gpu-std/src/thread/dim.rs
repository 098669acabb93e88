//! Extents and positions along the three axes of a launch.

/// A number of blocks or threads along each axis, or the position of one of them.
///
/// Counts and positions within a block, and counts and positions of blocks, fit in 32 bits on every device (CUDA C++
/// Programming Guide, "Technical Specifications per Compute Capability").
///
/// ```
/// use gpu_std::Dim3;
///
/// assert_eq!(Dim3::from((32, 8)), Dim3::new(32, 8, 1));
/// assert_eq!(Dim3::from(256).count(), 256);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(C)]
pub struct Dim3 {
    /// Along the first axis, on which neighbours have neighbouring memory.
    pub x: u32,
    /// Along the second axis.
    pub y: u32,
    /// Along the third axis.
    pub z: u32,
}

impl Dim3 {
    /// From its components.
    pub const fn new(x: u32, y: u32, z: u32) -> Self {
        Self { x, y, z }
    }

    /// The product of the components, which is exact: it needs at most 96 bits.
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
