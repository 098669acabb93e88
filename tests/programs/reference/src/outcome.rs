//! What came of a launch, in a form that can be stored and compared.

use std::fmt;

use gpukernel::Error;
use serde::{Deserialize, Serialize};

/// What came of a launch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Outcome {
    /// It computed something; this is a hash of that.
    Computed(u64),
    /// It panicked.
    Panicked {
        /// `line:column`.
        place: String,
        /// The block's and the thread's place.
        thread: String,
        /// What it said, where that is known.
        message: String,
    },
    /// Something else went wrong.
    Failed(String),
}

impl Outcome {
    /// What came of a launch that wrote these words.
    pub fn of(result: &Result<Vec<u64>, Error>) -> Self {
        match result {
            Ok(words) => Self::Computed(hash(words)),
            Err(Error::KernelPanicked { message, location, block, thread, .. }) => {
                // The file lies elsewhere for the device.
                let place = location.as_deref().unwrap_or_default();
                let column = place.rmatch_indices(':').nth(1).map_or(0, |(at, _)| at + 1);
                Self::Panicked {
                    place: place[column..].to_owned(),
                    thread: format!("{block:?} {thread:?}"),
                    message: message.clone(),
                }
            }
            Err(other) => Self::Failed(other.to_string()),
        }
    }

    /// Whether the same program came to this elsewhere: `found`, on a device whose code knows messages of panics or not.
    ///
    /// ```
    /// use program_reference::Outcome;
    ///
    /// assert!(Outcome::Computed(7).agrees(&Outcome::Computed(7), true));
    /// assert!(!Outcome::Computed(7).agrees(&Outcome::Failed("lost".into()), true));
    /// ```
    pub fn agrees(&self, found: &Self, with_messages: bool) -> bool {
        match (self, found) {
            (
                Self::Panicked { place, thread, message },
                Self::Panicked { place: found_place, thread: found_thread, message: found_message },
            ) => {
                place == found_place && thread == found_thread && (!with_messages || message == found_message)
            }
            _ => self == found,
        }
    }

    /// Whether it is a panic that only builds with checks for overflow have.
    pub fn is_overflow(&self) -> bool {
        matches!(self, Self::Panicked { message, .. } if message.starts_with("attempt to ")
            && (message.ends_with("with overflow") && !message.contains("divide") && !message.contains("remainder")))
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Computed(hash) => write!(f, "computed {hash:016x}"),
            Self::Panicked { place, thread, message } => {
                write!(f, "panicked at {place} in {thread}: {message}")
            }
            Self::Failed(reason) => write!(f, "failed: {reason}"),
        }
    }
}

/// FNV-1a.
fn hash(words: &[u64]) -> u64 {
    words
        .iter()
        .flat_map(|word| word.to_le_bytes())
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use gpu_std::Dim3;

    use super::*;

    fn panicked(message: &str, location: &str, thread: u32) -> Outcome {
        Outcome::of(&Err(Error::KernelPanicked {
            kernel: "programs::plain".to_owned(),
            message: message.to_owned(),
            location: Some(location.to_owned()),
            block: Dim3::new(1, 0, 0),
            thread: Dim3::new(thread, 0, 0),
        }))
    }

    #[test]
    fn one_bit_of_one_word_makes_another_outcome() {
        let of = |words: &[u64]| Outcome::of(&Ok(words.to_vec()));
        assert!(of(&[1, 2, 3]).agrees(&of(&[1, 2, 3]), true));
        for other in [[1, 2, 2], [1 << 63 | 1, 2, 3], [2, 1, 3]] {
            assert!(!of(&[1, 2, 3]).agrees(&of(&other), true));
        }
        assert!(!of(&[1]).agrees(&panicked("", "a.rs:1:2", 0), false));
    }

    #[test]
    fn panics_are_the_same_in_the_same_place_and_thread() {
        let here = panicked("x is 1", "/there/out/programs.rs:7:14", 3);
        let elsewhere = panicked("x is 1", "/here/out/programs.rs:7:14", 3);
        assert!(here.agrees(&elsewhere, true));
        let without = panicked("not in a release build", "/here/out/programs.rs:7:14", 3);
        assert!(here.agrees(&without, false) && !here.agrees(&without, true));
        assert!(!here.agrees(&panicked("x is 1", "programs.rs:7:15", 3), true));
        assert!(!here.agrees(&panicked("x is 1", "programs.rs:7:14", 4), true));
    }

    #[test]
    fn only_dev_builds_find_overflow() {
        for message in ["attempt to add with overflow", "attempt to shift left with overflow"] {
            assert!(panicked(message, "p.rs:1:1", 0).is_overflow());
        }
        for message in ["attempt to divide by zero", "attempt to divide with overflow", "x with overflow"] {
            assert!(!panicked(message, "p.rs:1:1", 0).is_overflow());
        }
    }
}
