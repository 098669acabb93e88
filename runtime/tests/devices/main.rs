//! What holds on every device, and what the CPU device checks.

#[path = "../common/again.rs"]
mod again;
#[path = "../common/mod.rs"]
mod common;
#[path = "../common/executor.rs"]
mod executor;
#[cfg(target_os = "linux")]
#[path = "../common/unpark.rs"]
mod unpark;

mod check;
mod cpu;
mod futures;
mod memory;
mod rows;
mod streams;
mod unified;
mod warps;
