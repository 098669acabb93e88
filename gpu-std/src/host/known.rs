//! What conditions on arguments (`requires`) know of them before a launch: values as they are, and the extents of memory.

use super::ArgReader;
use crate::{param::Param, shape};

/// What is known of the next parameter.
///
/// # Safety
/// The reader is at arguments that were packed for `P`.
#[doc(hidden)]
pub unsafe fn known<P: Param<'static>>(reader: &mut ArgReader<'_>) -> <P::Tail as Tail<P::Head>>::Known
where
    P::Tail: Tail<P::Head>,
{
    // SAFETY: `pack` wrote a head and a tail. What is read holds no reference on the host.
    let (head, tail): (P::Head, P::Tail) = unsafe { (reader.read(), reader.read()) };
    tail.known(head)
}

/// The second value of a parameter, which says what the first one is.
#[doc(hidden)]
pub trait Tail<Head> {
    /// What the condition sees under the parameter's name.
    type Known;
    /// From both values.
    fn known(self, head: Head) -> Self::Known;
}

impl<Head> Tail<Head> for () {
    type Known = Head;

    fn known(self, head: Head) -> Head {
        head
    }
}

/// How many elements there are.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct Length(usize);

#[doc(hidden)]
#[allow(missing_docs, clippy::len_without_is_empty)]
impl Length {
    pub fn len(&self) -> usize {
        self.0
    }

    pub fn is_empty(&self) -> bool {
        self.0 == 0
    }
}

impl<Head> Tail<Head> for usize {
    type Known = Length;

    fn known(self, _: Head) -> Length {
        Length(self)
    }
}

impl<Head> Tail<Head> for shape::Strided {
    type Known = Length;

    fn known(self, _: Head) -> Length {
        Length(self.len)
    }
}

/// The extents of a matrix or a volume.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct Extents {
    layers: u32,
    rows: u32,
    columns: u32,
}

#[doc(hidden)]
#[allow(missing_docs)]
impl Extents {
    pub fn layers(&self) -> usize {
        self.layers as usize
    }

    pub fn rows(&self) -> usize {
        self.rows as usize
    }

    pub fn columns(&self) -> usize {
        self.columns as usize
    }
}

impl<Head> Tail<Head> for shape::Rows {
    type Known = Extents;

    fn known(self, _: Head) -> Extents {
        Extents { layers: 1, rows: self.rows, columns: self.columns }
    }
}

impl<Head> Tail<Head> for shape::Layers {
    type Known = Extents;

    fn known(self, _: Head) -> Extents {
        Extents { layers: self.layers, rows: self.rows, columns: self.columns }
    }
}
