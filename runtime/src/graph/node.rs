//! Nodes: pieces of work in a graph, by which they are updated, and which other work comes after.

use std::{fmt, marker::PhantomData};

/// A piece of work in a graph (`cudaGraphNode_t`): a launch of kernel `K`, or, without `K`, any work.
///
/// [`Graph::update`](crate::Graph::update) takes that of a launch, [`Capture::after`](crate::Capture::after) all.
#[doc(alias = "cudaGraphNode_t", alias = "CUgraphNode")]
pub struct Node<K = ()> {
    /// The number of the capture.
    pub(super) capture: u64,
    pub(super) index: usize,
    kernel: PhantomData<fn() -> K>,
}

impl<K> Node<K> {
    pub(super) fn new(capture: u64, index: usize) -> Self {
        Self { capture, index, kernel: PhantomData }
    }

    /// The same node without its kernel, for lists of nodes of different kinds.
    ///
    /// ```
    /// # use gpukernel::{Device, Node, for_each};
    /// # use gpu_std::prelude::*;
    /// # #[kernel]
    /// # pub fn double(x: PerThread<u32>) {
    /// #     for (_, x) in x {
    /// #         *x *= 2;
    /// #     }
    /// # }
    /// # let mut manifest = gpukernel_image::Manifest::new("doc");
    /// # manifest.no_code = Some("this is an example".to_owned());
    /// # // SAFETY: it holds no code.
    /// # let kernels = unsafe { gpukernel::Image::from_bytes(gpukernel_image::ImageWriter::new(manifest).finish()) };
    /// # let device = Device::cpu();
    /// # let module = device.load(&kernels)?;
    /// let memory = (device.filled(3, 1_u32)?, device.zeroed::<u32>(3)?, device.zeroed::<u32>(3)?);
    /// let mut graph = device.stream()?.capture(memory, |capture, (x, y, z)| {
    ///     let mut before: Vec<Node> = Vec::new();
    ///     before.push(capture.launch(&module, double, for_each(3), (x,))?.untyped());
    ///     before.push(capture.after(())?.fill(y, 5)?);
    ///     capture.after(before)?.copy(x, z)
    /// })?;
    /// graph.launch()?;
    /// assert_eq!(graph.memory().2.to_vec()?, [2, 2, 2]);
    /// # Ok::<(), gpukernel::Error>(())
    /// ```
    pub fn untyped(self) -> Node {
        Node::new(self.capture, self.index)
    }
}

impl<K> Clone for Node<K> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<K> Copy for Node<K> {}

impl<K> fmt::Debug for Node<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Node").field(&self.index).finish()
    }
}

/// Nodes that work comes after: a [`Node`], and arrays, slices, vectors, options and tuples of nodes. `()` is none.
///
/// ```
/// use gpukernel::{Node, Nodes};
///
/// fn check<N: Nodes>() {}
/// check::<(Node, [Node; 3], Vec<Node>, &[Node])>();
/// ```
pub trait Nodes: Listed {}

impl<N: Listed + ?Sized> Nodes for N {}

/// Lists nodes.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no node of a graph",
    label = "no work comes after it",
    note = "what `Capture::launch`, `copy`, `fill` and so on return can be: one, or a tuple, array, slice or vector of them"
)]
pub trait Listed {
    /// Adds each.
    fn list(&self, nodes: &mut Vec<Node>);
}

impl<K> Listed for Node<K> {
    fn list(&self, nodes: &mut Vec<Node>) {
        nodes.push(self.untyped());
    }
}

impl<N: Listed + ?Sized> Listed for &N {
    fn list(&self, nodes: &mut Vec<Node>) {
        (**self).list(nodes);
    }
}

impl<N: Listed> Listed for [N] {
    fn list(&self, nodes: &mut Vec<Node>) {
        self.iter().for_each(|part| part.list(nodes));
    }
}

impl<N: Listed, const LEN: usize> Listed for [N; LEN] {
    fn list(&self, nodes: &mut Vec<Node>) {
        self.as_slice().list(nodes);
    }
}

impl<N: Listed> Listed for Vec<N> {
    fn list(&self, nodes: &mut Vec<Node>) {
        self.as_slice().list(nodes);
    }
}

impl<N: Listed> Listed for Option<N> {
    fn list(&self, nodes: &mut Vec<Node>) {
        self.as_slice().list(nodes);
    }
}

macro_rules! tuples {
    ($(($($N:ident $index:tt),*))*) => { $(
        #[allow(unused_variables)]
        impl<$($N: Listed),*> Listed for ($($N,)*) {
            fn list(&self, nodes: &mut Vec<Node>) {
                $(self.$index.list(nodes);)*
            }
        }
    )* };
}

tuples! {
    ()
    (A 0)
    (A 0, B 1)
    (A 0, B 1, C 2)
    (A 0, B 1, C 2, D 3)
    (A 0, B 1, C 2, D 3, E 4)
    (A 0, B 1, C 2, D 3, E 4, F 5)
    (A 0, B 1, C 2, D 3, E 4, F 5, G 6)
    (A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7)
}
