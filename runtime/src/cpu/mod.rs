//! The CPU as a device: kernels run inside the launch call, blocks in parallel, threads of a block one after another.

mod block;
mod check;
mod cooperative;
mod device;
mod end;
mod graph;
mod grid;
mod memory;
mod module;
mod overflow;
mod panic;
mod progress;
mod stacks;
mod stop;
mod storage;
mod stream;
mod unwinding;
mod wait;

pub(crate) use device::CpuDevice;
pub(crate) use graph::CpuGraph;
pub(crate) use memory::CpuMemory;
pub(crate) use module::CpuModule;
pub(crate) use stream::{CpuEvent, CpuStream};
