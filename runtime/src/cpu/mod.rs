//! The CPU as a device: each stream has a thread, which does its work in order; kernels run their blocks in parallel, threads of a block one after
//! another.

mod at_work;
mod block;
mod check;
mod cooperative;
mod device;
mod end;
mod errors;
mod event;
mod exit;
mod graph;
mod grid;
mod hold;
mod memory;
mod module;
mod origin;
mod overflow;
mod pages;
mod panic;
mod progress;
mod queue;
mod stacks;
mod stop;
mod storage;
mod stream;
mod threads;
mod unwinding;
mod wait;

pub(crate) use device::CpuDevice;
pub(crate) use event::CpuEvent;
pub(crate) use graph::CpuGraph;
pub(crate) use memory::CpuMemory;
pub(crate) use module::CpuModule;
pub(crate) use stream::CpuStream;
