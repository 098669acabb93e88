//! Kernels of which the feature `other` makes others: of the same names and, but for what their modules say, the same sizes.
#![no_std]

use gpu_std::{Constant, constant, prelude::*};

/// The same in both.
#[constant]
pub static SCALE: Constant<u32> = Constant::new(10);

/// The same in both.
#[kernel]
pub fn same(x: &[u32], y: PerThread<u32>) {
    for (i, y) in y {
        *y = x[i] * SCALE.get();
    }
}

/// One parameter is only read; the other way round it is written.
#[cfg(not(feature = "other"))]
#[kernel]
pub fn access(x: &[u32], y: PerThread<u32>) {
    for (i, y) in y {
        *y = x[i];
    }
}

/// One parameter is only read; the other way round it is written.
#[cfg(feature = "other")]
#[kernel]
pub fn access(x: PerThread<u32>, y: &[u32]) {
    for (i, x) in x {
        *x = y[i];
    }
}

/// All bits are a value of one type, not of the other.
#[cfg(not(feature = "other"))]
pub type Letter = char;
/// All bits are a value of one type, not of the other.
#[cfg(feature = "other")]
pub type Letter = u32;

/// Writes letters.
#[kernel]
pub fn letters(y: PerThread<Letter>) {
    for (i, y) in y {
        #[cfg(not(feature = "other"))]
        let letter = (b'a' + i as u8) as char;
        #[cfg(feature = "other")]
        let letter = u32::MAX - i as u32;
        *y = letter;
    }
}

/// Writes letters by arrays.
#[kernel]
pub fn arrays(y: PerThread<[Letter; 2]>) {
    for (_, y) in y {
        *y = [y[1], y[0]];
    }
}

/// A letter in constant memory.
#[constant]
pub static LETTER: Constant<Letter> = {
    #[cfg(not(feature = "other"))]
    let letter = 'a';
    #[cfg(feature = "other")]
    let letter = u32::MAX;
    Constant::new(letter)
};

/// Fields that change places.
#[derive(Clone, Copy, Debug, DeviceCopy)]
#[repr(C)]
pub struct Fields {
    /// A number.
    #[cfg(not(feature = "other"))]
    pub number: u32,
    /// A letter.
    pub letter: char,
    /// A number.
    #[cfg(feature = "other")]
    pub number: u32,
}

/// Numbers fields.
#[kernel]
pub fn fields(y: PerThread<Fields>) {
    for (_, y) in y {
        y.number = u32::MAX;
    }
}

const FIRST: u32 = if cfg!(feature = "other") { 5 } else { 1 };

/// Variants with other numbers.
#[derive(Clone, Copy, Debug, PartialEq, DeviceCopy)]
#[repr(u32)]
pub enum Variants {
    /// 1, or 5.
    First = FIRST,
    /// One more.
    Second,
}

/// Writes variants.
#[kernel]
pub fn variants(y: PerThread<Variants>) {
    for (_, y) in y {
        *y = Variants::First;
    }
}

/// A type that promises something.
pub mod even {
    use gpu_std::prelude::*;

    /// An even number.
    #[derive(Clone, Copy, Debug, DeviceCopy)]
    #[repr(transparent)]
    pub struct Number(u32);

    impl Number {
        /// Twice the number.
        pub fn twice(number: u32) -> Self {
            Self(number << 1)
        }
    }
}

/// A type of the same layout that promises something else.
pub mod odd {
    use gpu_std::prelude::*;

    /// An odd number.
    #[derive(Clone, Copy, Debug, DeviceCopy)]
    #[repr(transparent)]
    pub struct Number(u32);

    impl Number {
        /// Twice the number, and one.
        pub fn twice(number: u32) -> Self {
            Self(number << 1 | 1)
        }
    }
}

#[cfg(not(feature = "other"))]
pub use even as parity;
#[cfg(feature = "other")]
pub use odd as parity;

/// Writes numbers that promise something.
#[kernel]
pub fn promises(y: PerThread<parity::Number>) {
    for (i, y) in y {
        *y = parity::Number::twice(i as u32);
    }
}

/// How many elements a launch has at least.
pub const ROOM: usize = if cfg!(feature = "other") { 1024 } else { 4 };

/// The condition is written alike.
#[kernel(requires = x.len() >= ROOM)]
pub fn requires(x: &[u32], y: PerThread<u32>) {
    for (_, y) in y {
        *y = x[ROOM - 1];
    }
}

/// How many elements a launch has at least. A constant of this name is in the other crate, too.
pub const LIMIT: usize = ROOM;

/// Requires the limits of both crates, each as `$crate::LIMIT`.
macro_rules! at_least {
    ($x:ident) => {
        identity_limits::at_least!(
            /// The condition is written alike, and one of its two constants is not.
            requires_twice,
            $x.len() >= $crate::LIMIT,
            $crate::LIMIT - 1
        );
    };
}
at_least!(x);

/// The same, where the number is a parameter.
#[kernel(requires = x.len() >= N)]
pub fn bounded<const N: usize>(x: &[u32], y: PerThread<u32>) {
    for (_, y) in y {
        *y = x[N - 1];
    }
}

#[cfg(not(feature = "other"))]
gpu_std::instantiate!(
    /// The same, with a name of its own.
    pub fn bounded_here = bounded::<4>
);
#[cfg(feature = "other")]
gpu_std::instantiate!(
    /// The same, with a name of its own.
    pub fn bounded_here = bounded::<1024>
);

gpu_std::instantiate!(bounded::<8>);

/// How many elements a shared array has.
pub const SHARED: usize = if cfg!(feature = "other") { 20_000 } else { 16_000 };

/// More shared memory than the launch reserves.
#[kernel(block = 32)]
pub fn shared(y: PerThread<u32>, mut array: Shared<u32, SHARED>) {
    for (i, element) in &mut array {
        *element = i as u32;
    }
    let array = sync(array);
    for (i, y) in y {
        *y = array[SHARED - 1 - i];
    }
}

/// An owner of another size.
#[kernel]
pub fn tiles(y: BlockTiles<u32, { ROOM }>) {
    for mut tile in y {
        for (i, y) in &mut tile {
            *y = i as u32;
        }
    }
}

/// A promise that the program does not make.
#[cfg(not(feature = "other"))]
#[kernel]
pub fn promised(x: &[u32], y: PerThread<u32>) {
    for (i, y) in y {
        *y = x[i];
    }
}

/// A promise that the program does not make.
///
/// # Safety
/// `x` is as long as `y`.
#[cfg(feature = "other")]
#[kernel]
pub unsafe fn promised(x: &[u32], y: PerThread<u32>) {
    for (i, y) in y {
        // SAFETY: as the launch promises.
        *y = unsafe { *x.get_unchecked(i) };
    }
}
