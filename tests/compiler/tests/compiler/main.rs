//! From the source of kernels to images, PTX and machine code: what is built, and what is refused.

mod archs;
mod atomics_ptx;
mod bad_input;
mod choices;
mod crashes;
mod cuda_c;
mod device_warnings;
mod drafts;
mod image;
mod local_memory;
mod neighbours;
mod panics;
mod passes;
mod pointer_calls;
mod positions;
mod prints;
mod ptx_shape;
mod public_items;
mod requires;
mod rounds;
mod safe_code;
mod statics;
mod steps;
mod tensor_shape;
mod unrolling;
mod warps;
