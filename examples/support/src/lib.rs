//! What the examples have in common: the choice of a device, pictures, and times of work on a device.

mod picture;
mod place;
mod time;

pub use picture::{write_colour, write_grey};
pub use place::On;
pub use time::mean_time;
