//! A library without functions, in place of the driver's.
