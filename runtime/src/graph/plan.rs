//! What a graph does: its steps, and which of them come after which.

use std::{mem::MaybeUninit, sync::Arc};

use gpu_std::{
    DeviceCopy,
    host::{Access, RawSlice},
};
use smallvec::SmallVec;

use super::{
    conditional::Conditional,
    launch::{Code, Launch},
    memory::Piece,
};
use crate::{
    DeviceSlice, Result,
    backend::Backend,
    callback::Call,
    fill::Pattern,
    memory::AllocationId,
    view::{Region, Rows},
};

/// The steps of a graph, each after those that it comes after.
pub(crate) struct Plan<B: Backend> {
    pub(crate) steps: Vec<Step<B>>,
    /// For each step, those that it waits for.
    pub(crate) edges: Vec<Vec<usize>>,
    /// The allocations that the steps use, each once.
    pub(crate) allocations: Vec<(AllocationId, Access)>,
    /// The code that they launch, each once.
    pub(crate) code: Vec<Code<B>>,
}

/// A piece of work.
pub(crate) struct Step<B: Backend> {
    pub(crate) operation: Operation<B>,
    /// The memory that it uses.
    pub(super) uses: Uses,
    /// The steps that it comes after whatever memory they use: the last of its branch, or those that it was recorded after.
    pub(super) after: SmallVec<[usize; 2]>,
}

/// What a step does to which memory.
pub(crate) type Uses = SmallVec<[Use; 4]>;

/// What work does to a piece of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Use {
    pub(super) piece: Piece,
    pub(crate) allocation: AllocationId,
    pub(crate) access: Access,
}

impl Use {
    pub(crate) fn of<T: DeviceCopy>(slice: &DeviceSlice<T>, access: Access) -> Self {
        Self { piece: Piece::of(slice), allocation: slice.place().allocation, access }
    }

    /// Of rows, from the first to the last, and what is between them.
    pub(super) fn of_region(Region { place, rows }: Region, access: Access) -> Self {
        let piece = Piece { start: place.address, end: place.address + rows.span_bytes() };
        Self { piece, allocation: place.allocation, access }
    }

    pub(super) fn start(&self) -> usize {
        self.piece.start
    }

    pub(super) fn bytes(&self) -> usize {
        self.piece.end - self.piece.start
    }

    /// Of memory of the host.
    pub(super) fn of_host(start: usize, bytes: usize, access: Access) -> Self {
        Self { piece: Piece { start, end: start + bytes }, allocation: AllocationId::NONE, access }
    }

    /// The same use of as many bytes elsewhere.
    pub(crate) fn at(self, start: usize, allocation: AllocationId) -> Self {
        let piece = Piece { start, end: start + self.bytes() };
        Self { piece, allocation, ..self }
    }

    /// Checks that the memory is the device's; `for_kernels`, that kernels of the device can use it.
    ///
    /// # Errors
    /// [`Error::WrongDevice`](crate::Error::WrongDevice), [`Error::NotAccessible`](crate::Error::NotAccessible)
    ///
    /// # Safety
    /// The memory is there.
    pub(super) unsafe fn check_device<B: Backend>(
        &self,
        device: &'static B,
        for_kernels: bool,
        doing: &dyn Fn() -> String,
    ) -> Result<()> {
        // SAFETY: as the caller promises.
        let Some(allocation) = (unsafe { self.allocation.get() }) else { return Ok(()) };
        match for_kernels {
            true => allocation.for_kernels_on(device, doing).map(drop),
            false => allocation.on(device, doing).map(drop),
        }
    }

    pub(super) fn of_raw(slice: &RawSlice, access: Access) -> Self {
        let start = slice.address.addr();
        Self {
            piece: Piece { start, end: start + slice.len * slice.element_bytes },
            allocation: AllocationId::from_number(slice.allocation),
            access,
        }
    }
}

/// An address.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Place {
    Device(usize),
    Host(usize),
}

impl Place {
    pub(crate) fn address(self) -> usize {
        match self {
            Self::Device(address) | Self::Host(address) => address,
        }
    }

    /// So many bytes further on.
    pub(crate) fn after(self, bytes: usize) -> Self {
        match self {
            Self::Device(address) => Self::Device(address + bytes),
            Self::Host(address) => Self::Host(address + bytes),
        }
    }
}

/// What a step does. Clones are the same.
pub(crate) enum Operation<B: Backend> {
    /// Nothing: other steps come after it.
    Empty,
    Launch(Arc<Launch<B>>),
    /// A copy on the device, or between it and pinned memory of the host, of rows that are as many and as long on both sides.
    Copy {
        to: (Place, Rows),
        from: (Place, Rows),
    },
    /// A copy of bytes that the graph has, one row behind the other. Some may have no value: those between the fields of a structure.
    Upload {
        to: usize,
        rows: Rows,
        from: Arc<[MaybeUninit<u8>]>,
    },
    /// Setting memory to a pattern, so many times.
    Fill {
        to: usize,
        pattern: Pattern,
        count: usize,
    },
    /// A call of a function of the host.
    Call(Call),
    /// What depends on a number.
    Conditional(Arc<Conditional<B>>),
}

impl<B: Backend> Clone for Operation<B> {
    fn clone(&self) -> Self {
        match self {
            Self::Empty => Self::Empty,
            Self::Launch(launch) => Self::Launch(Arc::clone(launch)),
            &Self::Copy { to, from } => Self::Copy { to, from },
            Self::Upload { to, rows, from } => Self::Upload { to: *to, rows: *rows, from: Arc::clone(from) },
            &Self::Fill { to, pattern, count } => Self::Fill { to, pattern, count },
            Self::Call(code) => Self::Call(Arc::clone(code)),
            Self::Conditional(conditional) => Self::Conditional(Arc::clone(conditional)),
        }
    }
}

impl<B: Backend> Plan<B> {
    pub(super) fn new() -> Self {
        Self { steps: Vec::new(), edges: Vec::new(), allocations: Vec::new(), code: Vec::new() }
    }

    pub(super) fn push(&mut self, operation: Operation<B>, uses: Uses, after: SmallVec<[usize; 2]>) -> usize {
        self.steps.push(Step { operation, uses, after });
        self.steps.len() - 1
    }

    /// Replaces a launch of the same code, in its place among the others; returns the old one.
    pub(super) fn replace(&mut self, index: usize, operation: Operation<B>, uses: Uses) -> Step<B> {
        let after = self.steps[index].after.clone();
        self.put(index, Step { operation, uses, after })
    }

    pub(super) fn put(&mut self, index: usize, step: Step<B>) -> Step<B> {
        let old = std::mem::replace(&mut self.steps[index], step);
        (self.edges, self.allocations) = (self.order(), self.used());
        old
    }

    /// Derives the order of the steps and what they use, when all are there.
    pub(super) fn finish(mut self) -> Self {
        (self.edges, self.allocations) = (self.order(), self.used());
        let mut code: Vec<Code<B>> = Vec::new();
        let mut add = |found: &Code<B>| {
            if !code.iter().any(|known| known.is(found)) {
                code.push(found.clone());
            }
        };
        for step in &self.steps {
            match &step.operation {
                Operation::Launch(launch) => add(&launch.code),
                Operation::Conditional(conditional) => {
                    conditional.parts.iter().flat_map(|part| &part.code).for_each(&mut add);
                }
                _ => {}
            }
        }
        Self { code, ..self }
    }

    /// The launch that is this step.
    pub(super) fn launch(&self, index: usize) -> Option<&Launch<B>> {
        match &self.steps.get(index)?.operation {
            Operation::Launch(launch) => Some(launch),
            _ => None,
        }
    }

    /// The launches that each launch of the graph makes once.
    pub(crate) fn launches(&self) -> impl Iterator<Item = &Launch<B>> {
        (0..self.steps.len()).filter_map(|index| self.launch(index))
    }

    fn used(&self) -> Vec<(AllocationId, Access)> {
        let mut found: Vec<(AllocationId, Access)> = Vec::new();
        for used in self.steps.iter().flat_map(|step| &step.uses) {
            match found.iter_mut().find(|(allocation, _)| *allocation == used.allocation) {
                Some((_, access @ Access::Read)) => *access = used.access,
                Some(_) => {}
                None => found.push((used.allocation, used.access)),
            }
        }
        found
    }

    /// For each step, those that it waits for: what comes before it in its branch, and what uses the same memory, unless it waits for them
    /// through another.
    fn order(&self) -> Vec<Vec<usize>> {
        // What each step waits for, also through others.
        let mut before: Vec<Vec<bool>> = Vec::with_capacity(self.steps.len());
        let mut edges = Vec::with_capacity(self.steps.len());
        for (index, step) in self.steps.iter().enumerate() {
            let mut all = vec![false; index];
            let mut direct = Vec::new();
            // The last first: it has most others before it.
            for earlier in (0..index).rev() {
                let waits = step.after.contains(&earlier) || step.conflicts_with(&self.steps[earlier]);
                if waits && !all[earlier] {
                    direct.push(earlier);
                    all[earlier] = true;
                    for (known, through) in all.iter_mut().zip(&before[earlier]) {
                        *known |= through;
                    }
                }
            }
            before.push(all);
            edges.push(direct);
        }
        edges
    }
}

impl<B: Backend> Step<B> {
    fn conflicts_with(&self, other: &Self) -> bool {
        self.uses.iter().any(|mine| {
            let conflict = |theirs: &Use| {
                let writes = mine.access == Access::Write || theirs.access == Access::Write;
                writes && mine.piece.overlaps(theirs.piece)
            };
            other.uses.iter().any(conflict)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cpu::CpuDevice;

    /// A plan of steps: what each reads and writes, by byte, and what it comes after in its branch.
    fn edges(steps: &[(&[usize], &[usize], &[usize])]) -> Vec<Vec<usize>> {
        let mut plan = Plan::<CpuDevice>::new();
        for (reads, writes, after) in steps {
            let of = |bytes: &[usize], access| -> Vec<Use> {
                let piece = |&start: &usize| Piece { start, end: start + 1 };
                let allocation = AllocationId::NONE;
                bytes.iter().map(|byte| Use { piece: piece(byte), allocation, access }).collect()
            };
            let uses = [of(reads, Access::Read), of(writes, Access::Write)].concat();
            plan.push(Operation::Empty, uses.into(), SmallVec::from_slice(after));
        }
        plan.finish().edges
    }

    #[test]
    fn steps_of_a_branch_are_a_chain() {
        assert_eq!(
            edges(&[(&[], &[1], &[]), (&[], &[2], &[0]), (&[], &[3], &[1])]),
            [vec![], vec![0], vec![1]]
        );
    }

    #[test]
    fn what_is_read_together_runs_together() {
        let reads: (&[usize], &[usize], &[usize]) = (&[1], &[], &[]);
        assert_eq!(edges(&[reads, reads, reads]), [(); 3].map(|()| Vec::<usize>::new()));
        // And is written after all have read, and read after that.
        let steps = [reads, reads, (&[], &[1], &[]), reads];
        assert_eq!(edges(&steps), [vec![], vec![], vec![1, 0], vec![2]]);
    }

    #[test]
    fn parts_of_an_allocation_do_not_conflict() {
        assert_eq!(
            edges(&[(&[], &[1], &[]), (&[], &[2], &[]), (&[1, 2], &[3], &[])]),
            [vec![], vec![], vec![1, 0]]
        );
    }

    #[test]
    fn what_is_waited_for_through_another_step_is_no_edge() {
        // A chain of writes of the same byte, of which the last also comes after the first in its branch.
        let steps: [(&[usize], &[usize], &[usize]); 3] =
            [(&[], &[1], &[]), (&[], &[1], &[]), (&[], &[1], &[0])];
        assert_eq!(edges(&steps), [vec![], vec![0], vec![1]]);
    }

    #[test]
    fn allocations_are_listed_once_with_their_strongest_use() {
        let mut plan = Plan::<CpuDevice>::new();
        for (number, access) in [(1, Access::Read), (2, Access::Read), (1, Access::Write), (1, Access::Read)]
        {
            let piece = Piece { start: 0, end: 1 };
            let used = Use { piece, allocation: AllocationId::from_number(number), access };
            plan.push(Operation::Empty, SmallVec::from_slice(&[used]), SmallVec::new());
        }
        let found: Vec<_> =
            plan.finish().allocations.into_iter().map(|(id, access)| (id.number(), access)).collect();
        assert_eq!(found, [(1, Access::Write), (2, Access::Read)]);
    }
}
