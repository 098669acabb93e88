//! Who goes through an iterator, by which it is decided when a reduction is computed.

use super::{Finish, ParallelIterator, reduce::Reduction};
use crate::{collective::Operator, warp::WarpElement};

/// Who goes through a [`ParallelIterator`]: [`Grid`], or a [`Block`](super::Block) that has a row.
pub trait Scope: Copy + sealed::Sealed {
    /// What ends an iterator: a [`Reduction`], or its value.
    type Ended<P, O, F>
    where
        P: ParallelIterator<Scope = Self>,
        P::Item: WarpElement,
        O: Operator<P::Item>,
        F: Finish<P::Item>;

    /// Combines the items of an iterator.
    #[doc(hidden)]
    fn end<P, O, F>(iter: P, identity: P::Item, operator: O, finish: F) -> Self::Ended<P, O, F>
    where
        P: ParallelIterator<Scope = Self>,
        P::Item: WarpElement,
        O: Operator<P::Item>,
        F: Finish<P::Item>;
}

pub(super) mod sealed {
    #[allow(unreachable_pub)]
    pub trait Sealed {}
}

/// All threads of a launch go through an iterator; reductions are computed at the end.
#[derive(Clone, Copy, Debug)]
pub struct Grid;

impl sealed::Sealed for Grid {}

impl Scope for Grid {
    type Ended<P, O, F>
        = Reduction<P, O, F>
    where
        P: ParallelIterator<Scope = Self>,
        P::Item: WarpElement,
        O: Operator<P::Item>,
        F: Finish<P::Item>;

    #[inline(always)]
    fn end<P, O, F>(iter: P, identity: P::Item, operator: O, finish: F) -> Reduction<P, O, F>
    where
        P: ParallelIterator<Scope = Self>,
        P::Item: WarpElement,
        O: Operator<P::Item>,
        F: Finish<P::Item>,
    {
        Reduction { iter, identity, operator, finish }
    }
}
