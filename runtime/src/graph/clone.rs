//! Graphs that do the same as others, with other memory.

use std::{ptr, sync::Arc};

use gpu_std::host::Access;

use super::{
    Graph, GraphMemory, Instantiated,
    conditional::Conditional,
    launch::Launch,
    memory::{Held, Noted, Piece, Pieces},
    plan::{Operation, Place, Plan, Step, Use},
    wrap_graph,
};
use crate::{
    Error, Result,
    backend::{Backend, each},
    memory::{ALIGN, AllocationId},
    view::Rows,
};

impl<M: GraphMemory, N: Clone> Graph<M, N> {
    /// A graph that does the same with other memory (`cudaGraphClone`): memory that lends the same slices, of the same lengths, and borrows or owns
    /// them. Both can be launched at the same time. What is in the memory is not copied; launches are those that [`update`](Self::update) made of them, and
    /// the nodes are those of both graphs.
    ///
    /// ```
    /// let device = gpukernel::Device::cpu();
    /// let x = device.upload(&[1, 2, 3])?;
    /// let mut first = device.stream()?.capture((&x, device.zeroed(3)?), |capture, (x, y)| capture.copy(x, y))?;
    /// let mut y = device.zeroed(3)?;
    /// let other = device.upload(&[4, 5, 6])?;
    /// let mut second = first.clone_with((&other, &mut y))?;
    /// second.launch()?;
    /// assert_eq!(second.memory().1.to_vec()?, [4, 5, 6]);
    /// assert_eq!(first.memory().1.to_vec()?, [0; 3]);
    /// # Ok::<(), gpukernel::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::OtherMemory`] for memory of another shape, or that is aligned less; [`Error::WrongDevice`] or [`Error::NotAccessible`] for memory of another device; what the driver
    /// says. The memory is lost then.
    #[doc(alias = "cudaGraphClone", alias = "cuGraphClone")]
    pub fn clone_with<C>(&self, memory: C) -> Result<Graph<C, N>>
    where
        C: GraphMemory + for<'m> Pieces<Lent<'m> = M::Lent<'m>>,
    {
        let (from, to) = (Noted::of(&self.memory), Noted::of(&memory));
        let doing = "a clone of a graph";
        to.host.iter().try_for_each(|piece| piece.check(&self.stream.device(), doing))?;
        let moves = Moves::new(from, to)?;
        let graph = each!(&self.graph, graph => {
            // SAFETY: the memory is borrowed or owned, and of the shape of the old one, as what it lends is.
            let plan = unsafe { graph.plan.moved(&moves, graph.device)? };
            // SAFETY: the graph of which this becomes a part holds the memory.
            let clone = unsafe { graph.device.instantiate(&plan)? };
            let (device, number) = (graph.device, graph.number);
            wrap_graph(device, Instantiated { device, plan, graph: clone, number })
        });
        let (stream, nodes) = (self.stream.clone(), self.nodes.clone());
        Ok(Graph { graph, stream, nodes, uses_host: self.uses_host, memory })
    }
}

/// Which memory comes in the place of which.
struct Moves {
    /// Pieces in the same order, as long as each other, of the same types.
    from: Vec<Held>,
    to: Vec<Held>,
}

impl Moves {
    /// # Errors
    /// [`Error::OtherMemory`] if the shapes are not the same.
    fn new(from: Noted<'_>, to: Noted<'_>) -> Result<Self> {
        if from.shape == to.shape {
            return Ok(Self { from: from.pieces, to: to.pieces });
        }
        let (found, expected) = (to.shape, from.shape);
        Err(other_memory(format!(
            "the lengths of its slices and vectors, with 0 or 1 for an option, are {found:?}, and in the graph {expected:?}"
        )))
    }

    /// The place that comes in the place of this one.
    ///
    /// # Errors
    /// [`Error::OtherMemory`] if there is none.
    fn of(&self, used: Use) -> Result<Use> {
        let mut found: Option<Use> = None;
        for (from, to) in self.from.iter().zip(&self.to).filter(|(from, _)| from.piece.contains(used.piece)) {
            let start = to.piece.start + (used.piece.start - from.piece.start);
            let moved = used.at(start, to.allocation);
            // Memory that is borrowed for reading can be there twice; which of them was meant is not known, nor whether they have the same type.
            if found.is_some_and(|other| other.piece != moved.piece) {
                return Err(other_memory(
                    "two slices in the graph have elements in common that are different ones here".to_owned(),
                ));
            }
            found = Some(moved);
        }
        let found = found.ok_or_else(|| other_memory("it has not all that the graph uses".to_owned()))?;
        if found.allocation == AllocationId::NONE {
            // Memory of the host, which is only copied.
            return Ok(found);
        }
        // Kernels and casts may rely on more than the alignment of the type.
        let alignment = |piece: Piece| (piece.start | ALIGN) & (piece.start | ALIGN).wrapping_neg();
        let (is, was) = (alignment(found.piece), alignment(used.piece));
        if is < was {
            return Err(other_memory(format!(
                "a slice in it is aligned to {is} bytes, where that in the graph is to {was}"
            )));
        }
        Ok(found)
    }

    fn address(&self, start: usize, bytes: usize) -> Result<usize> {
        Ok(self.of(Use::of_host(start, bytes, Access::Read))?.start())
    }

    fn rows(&self, (place, rows): (Place, Rows)) -> Result<(Place, Rows)> {
        let address = self.address(place.address(), rows.span_bytes())?;
        let place = match place {
            Place::Device(_) => Place::Device(address),
            Place::Host(_) => Place::Host(address),
        };
        Ok((place, rows))
    }
}

fn other_memory(reason: String) -> Error {
    Error::OtherMemory { reason }
}

impl<B: Backend> Plan<B> {
    /// The same steps with other memory.
    ///
    /// # Safety
    /// The memory is there, as much of it, of the same types, and may be used as that of the steps.
    unsafe fn moved(&self, moves: &Moves, device: &'static B) -> Result<Self> {
        let mut plan = Self::new();
        for Step { operation, uses, after } in &self.steps {
            let uses = uses.iter().map(|used| moves.of(*used)).collect::<Result<_>>()?;
            // Of what depends on a condition, the steps are checked below, and the number is read by a kernel.
            let is_of_kernels = matches!(operation, Operation::Launch(_) | Operation::Conditional(_));
            for used in &uses {
                let used: &Use = used;
                // SAFETY: as the caller promises.
                unsafe { used.check_device(device, is_of_kernels, &|| "a clone of a graph".to_owned())? };
            }
            // SAFETY: as above.
            let operation = unsafe { operation.moved(moves, device)? };
            plan.push(operation, uses, after.clone());
        }
        Ok(plan.finish())
    }
}

impl<B: Backend> Operation<B> {
    /// # Safety
    /// As [`Plan::moved`].
    unsafe fn moved(&self, moves: &Moves, device: &'static B) -> Result<Self> {
        Ok(match self {
            Self::Empty => Self::Empty,
            // SAFETY: as the caller promises.
            Self::Launch(launch) => Self::Launch(Arc::new(unsafe { launch.moved(moves)? })),
            Self::Copy { to, from } => Self::Copy { to: moves.rows(*to)?, from: moves.rows(*from)? },
            Self::Upload { to, rows, from } => {
                let to = moves.address(*to, rows.span_bytes())?;
                Self::Upload { to, rows: *rows, from: from.clone() }
            }
            Self::Fill { to, pattern, count } => {
                let to = moves.address(*to, pattern.bytes() * count)?;
                Self::Fill { to, pattern: *pattern, count: *count }
            }
            Self::Call(code) => Self::Call(code.clone()),
            Self::Conditional(conditional) => {
                let Conditional { when, condition, parts } = &**conditional;
                let condition = moves.address(*condition, size_of::<u32>())?;
                // SAFETY: as the caller promises.
                let moved = parts.iter().map(|part| unsafe { part.moved(moves, device) });
                let parts = moved.collect::<Result<_>>()?;
                Self::Conditional(Arc::new(Conditional { when: *when, condition, parts }))
            }
        })
    }
}

impl<B: Backend> Launch<B> {
    /// # Safety
    /// As [`Plan::moved`].
    unsafe fn moved(&self, moves: &Moves) -> Result<Self> {
        let arguments = self.arguments().moved(|used| {
            let Use { piece, allocation, .. } = moves.of(used)?;
            Ok((ptr::with_exposed_provenance_mut(piece.start), allocation))
        })?;
        // SAFETY: they are those of a launch, with other memory.
        unsafe { self.with_arguments(arguments) }
    }
}
