//! The traits of operands and extents are for gpu_std alone.

// Something with a length of its own.
struct Liar;

/// Makes a number of a type of the program.
#[derive(Clone, Copy, Debug)]
struct Number;

impl gpu_std::contract::condition::Operand for Number {
    const TYPE: &'static str = "u32";

    fn order(self, _: Self) -> Option<std::cmp::Ordering> {
        None
    }
}

/// Makes memory of a type of the program.
impl gpu_std::contract::known::Line for Liar {
    fn len_of(&self) -> usize {
        1 << 40
    }
}

fn main() {}
