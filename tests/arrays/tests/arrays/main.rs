//! Functions of arrays on every device of the machine, and arrays against ndarray.

mod attacks;
mod cores;
mod functions;
mod kernels;
mod messages;
mod operators;
mod properties;
mod streams;
