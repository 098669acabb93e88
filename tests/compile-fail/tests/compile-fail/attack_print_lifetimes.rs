//! What is printed is there when the record is read.

use gpu_std::println;

/// Prints a text that is gone when it is read.
fn short_lived(text: String) {
    println!("{}", text.as_str());
}

/// The same, inside of something.
fn short_lived_in_a_slice(text: String) {
    println!("{:?}", [Some(text.as_str())]);
}

fn main() {}
