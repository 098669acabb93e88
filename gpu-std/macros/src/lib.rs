//! The procedural macros of gpu-std.
