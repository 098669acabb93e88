//! Graphs of a GPU.

use std::{
    ffi::c_void,
    mem::{self, ManuallyDrop, MaybeUninit},
    ptr, slice,
    sync::Arc,
};

use cudarc::driver::sys::{
    self, CUDA_CONDITIONAL_NODE_PARAMS, CUDA_HOST_NODE_PARAMS, CUDA_MEMSET_NODE_PARAMS, CUdeviceptr, CUgraph,
    CUgraphConditionalHandle, CUgraphConditionalNodeType, CUgraphExec, CUgraphNode, CUgraphNodeParams,
    CUgraphNodeType, CUlaunchAttributeID, CUlaunchAttributeValue,
};
use gpu_std::host::Access;
use smallvec::SmallVec;

use super::{
    CudaDevice, CudaMemory, CudaStream, callback,
    condition::{NEEDED_FOR_PARTS, SetNode},
    driver, memory,
    module::LaunchLocks,
    replay,
    rows::{self, Side},
};
use crate::{
    Result,
    backend::BackendGraph,
    fill::Pattern,
    graph::{Conditional, Launch, Operation, Place, Plan, When},
    memory::Allocation,
    nvtx, observed,
    prepared::{Lists, PreparedLaunch},
    usage::{self, Settled, Uses},
};

/// A graph of recorded steps.
pub(crate) struct CudaGraph {
    exec: Executable,
    /// What it was made of, whose nodes name its own.
    description: Description,
    /// Whether its code may have locks to hold while it is queued.
    has_locks: bool,
}

/// A graph that the driver can launch.
pub(super) struct Executable {
    device: &'static CudaDevice,
    raw: CUgraphExec,
    /// The stream of its last launch or upload.
    stream: Option<Arc<CudaStream>>,
    /// Whether nobody else used its memory since.
    settled: Settled,
    /// Dropped when its work is done, which uses it.
    host: ManuallyDrop<Host>,
}

// SAFETY: the handle is used by one thread at a time: launches and updates are of a graph that is borrowed for writing.
unsafe impl Send for Executable {}
// SAFETY: as above; an upload only reads.
unsafe impl Sync for Executable {}

impl Executable {
    /// Whether its next launch on this stream may be by [`launch_again`](Self::launch_again).
    fn is_settled(&self, stream: &Arc<CudaStream>) -> bool {
        self.stream.as_ref().is_some_and(|last| Arc::ptr_eq(last, stream))
            && self.settled.is_settled()
            && !usage::is_unordered(self.device)
    }

    /// Queues its work, after conflicting work on what it uses.
    ///
    /// # Safety
    /// Its memory and code are there, and this is all the memory that it uses.
    pub(super) unsafe fn launch(
        &mut self,
        stream: &Arc<CudaStream>,
        uses: &[(&Arc<CudaMemory>, Access)],
    ) -> Result<()> {
        replay::refuse("a graph")?;
        memory::ordered_graph(stream, uses, &self.settled, |stream| self.queue(stream))?;
        self.is_used_by(stream);
        Ok(())
    }

    /// Queues its work, if its memory was settled, on the stream of its last launch.
    ///
    /// # Safety
    /// As [`launch`](Self::launch); `plan` is that of the graph.
    #[inline]
    unsafe fn launch_again(&self, stream: &Arc<CudaStream>, plan: &Plan<CudaDevice>) -> Result<()> {
        replay::refuse("a graph")?;
        let late = || {
            // SAFETY: as the caller promises.
            let uses = unsafe { self.uses(plan)? };
            Ok((uses, stream.number_work()))
        };
        usage::ordered_again(stream, &self.settled, || self.queue(stream), late)
    }

    /// The memory that a graph uses.
    ///
    /// # Safety
    /// It is there.
    #[inline(never)]
    unsafe fn uses<'p>(&self, plan: &'p Plan<CudaDevice>) -> Result<Uses<&'p Arc<CudaMemory>>> {
        let (mut uses, used) = (SmallVec::new(), plan.allocations.iter().copied());
        // SAFETY: as the caller promises.
        unsafe { Allocation::add_uses(&mut uses, used, self.device, &|| "a graph".to_owned())? };
        Ok(uses)
    }

    #[inline]
    fn queue(&self, stream: &CudaStream) -> Result<()> {
        let _range = (!observed::is_unobserved()).then(|| nvtx::launch("graph"));
        // SAFETY: both are alive, and the memory is ordered, as the callers promise.
        stream.launch("cuGraphLaunch", |stream| unsafe { sys::cuGraphLaunch(self.raw, stream) })
    }

    pub(super) fn device(&self) -> &'static CudaDevice {
        self.device
    }

    fn upload(&mut self, stream: &Arc<CudaStream>) -> Result<()> {
        replay::refuse("the upload of a graph")?;
        self.device.bind()?;
        // SAFETY: both are alive.
        self.device.check("cuGraphUpload", unsafe { sys::cuGraphUpload(self.raw, stream.raw()) })?;
        if self.is_used_by(stream) {
            // What is noted is of launches on another stream.
            self.settled.unsettle();
        }
        Ok(())
    }

    /// Notes the stream, which comes after the graph's last one (CUDA Driver API, `cuGraphLaunch` and `cuGraphUpload`); whether it is another one.
    fn is_used_by(&mut self, stream: &Arc<CudaStream>) -> bool {
        let is_other = !self.stream.as_ref().is_some_and(|last| Arc::ptr_eq(last, stream));
        if is_other {
            self.stream = Some(Arc::clone(stream));
        }
        is_other
    }
}

impl Drop for Executable {
    fn drop(&mut self) {
        // The driver's documentation does not say what becomes of a graph that is destroyed while it runs.
        if self.stream.take().is_none_or(|stream| stream.wait_for_all().is_ok()) && self.device.bind().is_ok()
        {
            // SAFETY: nobody uses it any more. A drop cannot return the error.
            let _ = unsafe { sys::cuGraphExecDestroy(self.raw) };
            // SAFETY: it is not used from here on.
            unsafe { ManuallyDrop::drop(&mut self.host) };
        }
    }
}

/// The driver's description of a graph: one node for each step.
pub(super) struct Description {
    device: &'static CudaDevice,
    raw: CUgraph,
    /// Whether it is destroyed with this: those in conditional nodes belong to theirs.
    is_own: bool,
    nodes: Vec<CUgraphNode>,
    host: Host,
}

/// What the nodes of a graph use of the host.
#[derive(Default)]
struct Host {
    /// What they copy from.
    memory: Vec<HostMemory>,
    /// What they call. The driver has their addresses.
    calls: Vec<Arc<callback::GraphCall>>,
}

// SAFETY: a handle, of which only the graph's owner makes use.
unsafe impl Send for Description {}
// SAFETY: as above.
unsafe impl Sync for Description {}

impl Description {
    fn new(device: &'static CudaDevice) -> Result<Self> {
        device.bind()?;
        let mut raw: CUgraph = ptr::null_mut();
        // SAFETY: the pointer is to a live handle.
        device.check("cuGraphCreate", unsafe { sys::cuGraphCreate(&mut raw, 0) })?;
        // SAFETY: it was just created.
        Ok(unsafe { Self::owned(device, raw) })
    }

    /// # Safety
    /// The graph is the device's, and nobody else destroys it.
    pub(super) unsafe fn owned(device: &'static CudaDevice, raw: CUgraph) -> Self {
        Self { device, raw, is_own: true, nodes: Vec::new(), host: Host::default() }
    }

    /// Adds the node of the next step.
    fn add(&mut self, operation: &Operation<CudaDevice>, edges: &[usize]) -> Result<()> {
        let after: Vec<CUgraphNode> = edges.iter().map(|&index| self.nodes[index]).collect();
        let mut node: CUgraphNode = ptr::null_mut();
        match operation {
            Operation::Empty => self.add_empty(&mut node, &after)?,
            Operation::Launch(launch) => match launch.prepared(&mut Lists::new()) {
                Some(prepared) => self.add_launch(&mut node, &after, launch, &prepared)?,
                None => self.add_empty(&mut node, &after)?,
            },
            Operation::Copy { to, from } => self.add_copy(&mut node, &after, *to, *from)?,
            Operation::Upload { to, rows, from } => {
                let from = HostMemory::copied(self.device, from)?;
                let start = Place::Host(from.start.expose_provenance());
                self.host.memory.push(from);
                self.add_copy(&mut node, &after, (Place::Device(*to), *rows), (start, rows.packed()))?;
            }
            Operation::Fill { to, pattern, count } => {
                self.add_fill(&mut node, &after, *to, *pattern, *count)?;
            }
            Operation::Call(code) => {
                let call = Arc::new(callback::GraphCall::new(self.device, Arc::clone(code)));
                self.add_call(&mut node, &after, &call)?;
                self.host.calls.push(call);
            }
            Operation::Conditional(conditional) => self.add_conditional(&mut node, &after, conditional)?,
        }
        self.nodes.push(node);
        Ok(())
    }

    fn add_empty(&self, node: &mut CUgraphNode, after: &[CUgraphNode]) -> Result<()> {
        // SAFETY: the handles are of this graph, as many as said.
        let added = unsafe { sys::cuGraphAddEmptyNode(node, self.raw, after.as_ptr(), after.len()) };
        self.device.check("cuGraphAddEmptyNode", added)
    }

    fn add_call(
        &self,
        node: &mut CUgraphNode,
        after: &[CUgraphNode],
        call: &Arc<callback::GraphCall>,
    ) -> Result<()> {
        let parameters = CUDA_HOST_NODE_PARAMS {
            fn_: Some(callback::run_call),
            userData: Arc::as_ptr(call).cast_mut().cast(),
        };
        // SAFETY: the handles are of this graph, as many as said; the function takes what it is given, which is there as long as the graph's work.
        let added =
            unsafe { sys::cuGraphAddHostNode(node, self.raw, after.as_ptr(), after.len(), &parameters) };
        self.device.check("cuGraphAddHostNode", added)
    }

    /// Adds the steps of a plan.
    fn add_all(&mut self, plan: &Plan<CudaDevice>) -> Result<()> {
        plan.steps.iter().zip(&plan.edges).try_for_each(|(step, edges)| self.add(&step.operation, edges))
    }

    /// Adds a conditional node, with what it does, and before it a kernel that tells it what the condition is, in a loop once more at the end of each round.
    fn add_conditional(
        &mut self,
        node: &mut CUgraphNode,
        after: &[CUgraphNode],
        conditional: &Conditional<CudaDevice>,
    ) -> Result<()> {
        let device = self.device;
        // Before the driver is asked for more than it can.
        let function = device.set_condition().function(device)?;
        if conditional.when == When::Switch {
            driver::require_version(NEEDED_FOR_PARTS)?;
        }
        // The driver has no node without parts. And before CUDA 12.8, one whose part is an empty graph hangs (openxla/xla, pull request 25769).
        let does_nothing =
            conditional.when != When::While && conditional.parts.iter().all(|part| part.steps.is_empty());
        let Ok(size @ 1..) = u32::try_from(if does_nothing { 0 } else { conditional.parts.len() }) else {
            return self.add_empty(node, after);
        };
        let mut handle: CUgraphConditionalHandle = 0;
        // SAFETY: the pointer is to a live handle, and graph and context are there.
        let created =
            unsafe { sys::cuGraphConditionalHandleCreate(&mut handle, self.raw, device.context(), 0, 0) };
        device.check("cuGraphConditionalHandleCreate", created)?;
        let first = SetNode::first(function, handle, conditional.condition);
        let before = self.add_set(after, &first)?;
        let kind = match conditional.when {
            When::If => CUgraphConditionalNodeType::CU_GRAPH_COND_TYPE_IF,
            When::While => CUgraphConditionalNodeType::CU_GRAPH_COND_TYPE_WHILE,
            When::Switch => CUgraphConditionalNodeType::CU_GRAPH_COND_TYPE_SWITCH,
        };
        let conditional_node = CUDA_CONDITIONAL_NODE_PARAMS {
            handle,
            type_: kind,
            size,
            phGraph_out: ptr::null_mut(),
            ctx: device.context(),
        };
        // SAFETY: all zero is a value of it: numbers, null pointers, and an union of such.
        let mut parameters: CUgraphNodeParams = unsafe { mem::zeroed() };
        parameters.type_ = CUgraphNodeType::CU_GRAPH_NODE_TYPE_CONDITIONAL;
        parameters.__bindgen_anon_1.conditional = conditional_node;
        // SAFETY: the handles are of this graph, as many as said, whose edges have no data; the parameters are those of a conditional node.
        let added =
            unsafe { sys::cuGraphAddNode_v2(node, self.raw, &before, ptr::null(), 1, &mut parameters) };
        device.check("cuGraphAddNode", added)?;
        for (index, part) in conditional.parts.iter().enumerate() {
            // SAFETY: the driver has written where its graphs are, as many as asked for, which are there as long as the node.
            let raw = unsafe { parameters.__bindgen_anon_1.conditional.phGraph_out.add(index).read() };
            let mut body = Self { device, raw, is_own: false, nodes: Vec::new(), host: Host::default() };
            let added = body.add_all(part).and_then(|()| match conditional.when {
                When::While => body.add_end_of_round(&first, part),
                When::If | When::Switch => Ok(()),
            });
            // Also if it failed: its nodes are there.
            self.host.memory.append(&mut body.host.memory);
            self.host.calls.append(&mut body.host.calls);
            added?;
        }
        Ok(())
    }

    /// Adds what tells a loop whether there is another round: the condition, if no kernel panicked. It might have no end else.
    fn add_end_of_round(&self, first: &SetNode, round: &Plan<CudaDevice>) -> Result<()> {
        let marks = round.code.iter().filter_map(|code| code.module().mark_of_panics());
        let mut after: SmallVec<[_; 4]> = self.nodes.as_slice().into();
        for set in first.last(marks) {
            let node = self.add_set(&after, &set)?;
            after.clear();
            after.push(node);
        }
        Ok(())
    }

    /// Adds the kernel that tells a conditional node what the condition is.
    fn add_set(&self, after: &[CUgraphNode], set: &SetNode) -> Result<CUgraphNode> {
        let mut node: CUgraphNode = ptr::null_mut();
        let mut values = set.values();
        let parameters = set.parameters(&mut values);
        // SAFETY: the handles are of this graph, as many as said; the kernel is loaded, and its parameters point to values of their sizes,
        // which the driver copies.
        let added = unsafe {
            sys::cuGraphAddKernelNode_v2(&mut node, self.raw, after.as_ptr(), after.len(), &parameters)
        };
        self.device.check("cuGraphAddKernelNode", added).map(|()| node)
    }

    fn add_launch(
        &self,
        node: &mut CUgraphNode,
        after: &[CUgraphNode],
        launch: &Launch<CudaDevice>,
        prepared: &PreparedLaunch<'_, CudaDevice>,
    ) -> Result<()> {
        let parameters = launch.function().node_parameters(prepared);
        // SAFETY: the handles are of this graph, as many as said; the kernel is loaded, and its parameters point to values of their sizes,
        // which the driver copies.
        let added =
            unsafe { sys::cuGraphAddKernelNode_v2(node, self.raw, after.as_ptr(), after.len(), &parameters) };
        self.device.check("cuGraphAddKernelNode", added)?;
        if prepared.cooperative {
            let value = CUlaunchAttributeValue { cooperative: 1 };
            let attribute = CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
            // SAFETY: the node is of a kernel, and the attribute has a value of this kind.
            let set = unsafe { sys::cuGraphKernelNodeSetAttribute(*node, attribute, &value) };
            self.device.check("cuGraphKernelNodeSetAttribute", set)?;
        }
        Ok(())
    }

    /// Adds a copy: the node is the last of those that it needs, each of which comes after the one before.
    fn add_copy(&self, node: &mut CUgraphNode, after: &[CUgraphNode], to: Side, from: Side) -> Result<()> {
        let context = self.device.context();
        for (index, copy) in rows::copies(to, from).iter().enumerate() {
            let before = *node;
            let after = if index == 0 { after } else { slice::from_ref(&before) };
            // SAFETY: the handles are of this graph, as many as said, and the memory is there as long as the graph, by its promise.
            let added = unsafe {
                sys::cuGraphAddMemcpyNode(node, self.raw, after.as_ptr(), after.len(), copy, context)
            };
            self.device.check("cuGraphAddMemcpyNode", added)?;
        }
        Ok(())
    }

    fn add_fill(
        &self,
        node: &mut CUgraphNode,
        after: &[CUgraphNode],
        to: usize,
        pattern: Pattern,
        count: usize,
    ) -> Result<()> {
        let value = match pattern {
            Pattern::One(value) => value.into(),
            Pattern::Two(value) => value.into(),
            Pattern::Four(value) => value,
        };
        // One row, of any length: more than 2³² elements are set, too (driver 580, on an H100).
        let parameters = CUDA_MEMSET_NODE_PARAMS {
            dst: to as CUdeviceptr,
            pitch: 0,
            value,
            elementSize: pattern.bytes() as u32,
            width: count,
            height: 1,
        };
        let context = self.device.context();
        // SAFETY: the handles are of this graph, as many as said, and the memory is there as long as the graph, by its promise.
        let added = unsafe {
            sys::cuGraphAddMemsetNode(node, self.raw, after.as_ptr(), after.len(), &parameters, context)
        };
        self.device.check("cuGraphAddMemsetNode", added)
    }

    /// The number of its nodes.
    pub(super) fn len(&self) -> Result<usize> {
        let mut count = 0;
        // SAFETY: the pointer is to a live number; where nodes are not asked for, only that is written.
        let result = unsafe { sys::cuGraphGetNodes(self.raw, ptr::null_mut(), &mut count) };
        self.device.check("cuGraphGetNodes", result).map(|()| count)
    }

    /// A graph that can be launched, which takes over what the nodes use of the host.
    pub(super) fn instantiate(&mut self) -> Result<Executable> {
        let mut raw: CUgraphExec = ptr::null_mut();
        // SAFETY: the pointer is to a live handle, and the graph is there.
        let result = unsafe { sys::cuGraphInstantiateWithFlags(&mut raw, self.raw, 0) };
        self.device.check("cuGraphInstantiate", result)?;
        let host = ManuallyDrop::new(mem::take(&mut self.host));
        Ok(Executable { device: self.device, raw, stream: None, settled: Settled::default(), host })
    }
}

impl Drop for Description {
    fn drop(&mut self) {
        if self.is_own && self.device.bind().is_ok() {
            // SAFETY: nobody uses it any more. A drop cannot return the error.
            let _ = unsafe { sys::cuGraphDestroy(self.raw) };
        }
    }
}

/// Pinned memory of the host, which a GPU copies from by itself.
struct HostMemory {
    device: &'static CudaDevice,
    start: *mut c_void,
}

// SAFETY: memory that nobody but the GPU uses once it is filled.
unsafe impl Send for HostMemory {}
// SAFETY: as above.
unsafe impl Sync for HostMemory {}

impl HostMemory {
    fn copied(device: &'static CudaDevice, from: &[MaybeUninit<u8>]) -> Result<Self> {
        device.bind()?;
        let (mut start, bytes) = (ptr::null_mut(), from.len());
        // SAFETY: the pointer is to a live pointer, and a context is current.
        device.check("cuMemHostAlloc", unsafe { sys::cuMemHostAlloc(&mut start, bytes, 0) })?;
        // SAFETY: that many bytes were just allocated.
        unsafe { ptr::copy_nonoverlapping(from.as_ptr(), start.cast(), bytes) };
        Ok(Self { device, start })
    }
}

impl Drop for HostMemory {
    fn drop(&mut self) {
        if self.device.bind().is_ok() {
            // SAFETY: nobody uses it any more. A drop cannot return the error.
            let _ = unsafe { sys::cuMemFreeHost(self.start) };
        }
    }
}

impl CudaGraph {
    /// # Safety
    /// The memory of the steps is there as long as the result.
    pub(super) unsafe fn new(device: &'static CudaDevice, plan: &Plan<CudaDevice>) -> Result<Self> {
        let mut description = Description::new(device)?;
        description.add_all(plan)?;
        let exec = description.instantiate()?;
        Ok(Self { exec, description, has_locks: true })
    }
}

impl BackendGraph for CudaGraph {
    type Device = CudaDevice;

    unsafe fn launch(&mut self, stream: &Arc<CudaStream>, plan: &Plan<CudaDevice>) -> Result<()> {
        // Nothing to do for each launch otherwise: that is what graphs are for.
        let is_unobserved = observed::is_unobserved();
        if is_unobserved && !self.has_locks && self.exec.is_settled(stream) {
            // SAFETY: as the caller promises; the plan has the code.
            return unsafe { self.exec.launch_again(stream, plan) };
        }
        if !is_unobserved {
            for launch in plan.launches() {
                if let Some(prepared) = launch.prepared(&mut Lists::new()) {
                    observed::note(launch.code(), launch.function(), &prepared, launch.at)?;
                }
            }
        }
        let locks = LaunchLocks::of(plan.code.iter().map(|code| &**code.module()));
        // Code that has none when it is loaded never has.
        self.has_locks = locks.is_some();
        if self.exec.is_settled(stream) {
            // SAFETY: as above.
            return unsafe { self.exec.launch_again(stream, plan) };
        }
        // SAFETY: the caller promises that the memory is there.
        let uses = unsafe { self.exec.uses(plan)? };
        // SAFETY: as above.
        unsafe { self.exec.launch(stream, &uses) }
    }

    fn upload(&mut self, stream: &Arc<CudaStream>) -> Result<()> {
        self.exec.upload(stream)
    }

    unsafe fn update(
        &mut self,
        index: usize,
        old: &Operation<CudaDevice>,
        plan: &Plan<CudaDevice>,
    ) -> Result<bool> {
        let (Operation::Launch(old), Operation::Launch(new)) = (old, &plan.steps[index].operation) else {
            return Ok(false);
        };
        let (mut lists, mut of_old) = (Lists::new(), Lists::new());
        let (Some(_), Some(prepared)) = (old.prepared(&mut of_old), new.prepared(&mut lists)) else {
            return Ok(false);
        };
        let Executable { device, raw, .. } = &self.exec;
        device.bind()?;
        let parameters = new.function().node_parameters(&prepared);
        // SAFETY: the node is of the same kernel; the parameters point to values of their sizes, which the driver copies.
        let result = unsafe {
            sys::cuGraphExecKernelNodeSetParams_v2(*raw, self.description.nodes[index], &parameters)
        };
        // The new arguments may be of other memory.
        self.exec.settled.unsettle();
        device.check("cuGraphExecKernelNodeSetParams", result).map(|()| true)
    }
}
