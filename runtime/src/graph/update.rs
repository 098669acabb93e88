//! Giving launches of a graph other arguments.

use std::{fmt, marker::PhantomData, panic::Location};

use gpu_std::host::{Kernel, PackedArgs, SafeKernel};

use super::{Graph, GraphMemory, Node, launch::Arguments, memory::Noted, recording};
use crate::{Error, LaunchConfig, RawArg, Result, backend::each, module::ThisRuntime};

impl<M: GraphMemory, N> Graph<M, N> {
    /// Gives a launch of the graph another configuration and other arguments: what `launch` says, which gets the memory that the graph holds
    /// (`cudaGraphExecKernelNodeSetParams`). Launches of the graph that are queued already are as they were.
    ///
    /// # Errors
    /// As [`Capture::launch`](crate::Capture::launch); [`Error::WrongNode`] for a node of another graph. The graph then is as before.
    #[doc(
        alias = "cudaGraphExecKernelNodeSetParams",
        alias = "cuGraphExecKernelNodeSetParams",
        alias = "cudaGraphExecUpdate"
    )]
    #[track_caller]
    pub fn update<K: SafeKernel>(
        &mut self,
        node: Node<K>,
        launch: impl FnOnce(&mut Update<K>, M::Lent<'_>),
    ) -> Result<()> {
        // SAFETY: a safe kernel asks for nothing.
        unsafe { self.update_unsafe(node, launch) }
    }

    /// Gives a launch of an `unsafe fn` kernel other arguments, as [`update`](Self::update).
    ///
    /// # Errors
    /// As there.
    ///
    /// # Safety
    /// As for [`Module::launch_unsafe`](crate::Module::launch_unsafe), for every launch of the graph from now on, and of what is cloned from it.
    #[track_caller]
    pub unsafe fn update_unsafe<K: Kernel>(
        &mut self,
        node: Node<K>,
        launch: impl FnOnce(&mut Update<K>, M::Lent<'_>),
    ) -> Result<()> {
        // SAFETY: as the caller promises.
        unsafe { self.update_any(node, launch) }
    }

    /// Gives a launch of a kernel that was made elsewhere other arguments, as [`update`](Self::update): what
    /// [`launch_foreign`](Update::launch_foreign) says.
    ///
    /// # Errors
    /// As there.
    ///
    /// # Safety
    /// As for [`ForeignModule::launch`](crate::ForeignModule::launch), for every launch of the graph from now on, and of what is cloned from it.
    #[track_caller]
    pub unsafe fn update_foreign(
        &mut self,
        node: Node<ForeignKernel>,
        launch: impl FnOnce(&mut Update<ForeignKernel>, M::Lent<'_>),
    ) -> Result<()> {
        // SAFETY: as the caller promises.
        unsafe { self.update_any(node, launch) }
    }

    /// # Safety
    /// As for the launch of the kernel, for every launch of the graph from now on, and of what is cloned from it.
    #[track_caller]
    unsafe fn update_any<K>(
        &mut self,
        node: Node<K>,
        launch: impl FnOnce(&mut Update<K>, M::Lent<'_>),
    ) -> Result<()> {
        let at = Location::caller();
        let held = Noted::of(&self.memory).pieces;
        let mut update = Update { launch: None, kernel: PhantomData };
        // SAFETY: the memory is borrowed for writing while it is lent, and the code cannot keep it.
        launch(&mut update, unsafe { M::lend(&raw mut self.memory) });
        let Some((config, given)) = update.launch else { return Ok(()) };
        each!(&mut self.graph, graph => {
            let wrong = || Error::WrongNode { doing: "an update of a launch".to_owned() };
            let found = graph.plan.launch(node.index).filter(|_| node.capture == graph.number);
            let old = found.ok_or_else(wrong)?;
            // The node is of a launch of this kernel.
            let arguments = match (old.arguments(), given) {
                (Arguments::Kernel(info, _), Given::Packed(args)) => Arguments::Kernel(info, args),
                (Arguments::Foreign { name, .. }, Given::Raw(args, shared_bytes)) => {
                    Arguments::Foreign { name: name.clone(), args, shared_bytes }
                }
                _ => return Err(wrong()),
            };
            let uses = recording::uses_of(&held, &arguments)?;
            // SAFETY: the kernel packed the arguments, or they are as the caller promises; they are from what the graph holds.
            unsafe {
                let launch = old.with(config, arguments, at)?;
                graph.replace(node.index, launch, uses)
            }
        })
    }
}

/// What [`Graph::update`] makes of a launch.
pub struct Update<K> {
    /// The last that was asked for.
    launch: Option<(LaunchConfig, Given)>,
    kernel: PhantomData<fn() -> K>,
}

/// Arguments that were given.
enum Given {
    Packed(Box<PackedArgs>),
    /// With bytes of dynamic shared memory.
    Raw(Box<[RawArg<'static>]>, u32),
}

impl<K: Kernel> Update<K> {
    /// The configuration and the arguments from now on; called again, the last ones count.
    pub fn launch(&mut self, config: LaunchConfig, args: K::Args<'_, ThisRuntime>) {
        let mut packed = Box::new(PackedArgs::of(K::INFO));
        K::pack::<ThisRuntime>(args, &mut packed);
        self.launch = Some((config, Given::Packed(packed)));
    }
}

impl Update<ForeignKernel> {
    /// The configuration, bytes of dynamic shared memory and the arguments from now on; called again, the last ones count.
    pub fn launch_foreign(&mut self, config: LaunchConfig, shared_bytes: u32, args: &[RawArg<'_>]) {
        // SAFETY: the graph holds their memory, or the update fails.
        let args = args.iter().map(|arg| unsafe { arg.detached() }).collect();
        self.launch = Some((config, Given::Raw(args, shared_bytes)));
    }
}

impl<K> fmt::Debug for Update<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Update").finish_non_exhaustive()
    }
}

/// A kernel of code that another compiler made: [`Capture::launch_foreign`](crate::Capture::launch_foreign) returns its node.
#[derive(Clone, Copy, Debug)]
pub enum ForeignKernel {}
