//! NVIDIA GPU architectures by their compute capability: `sm_75`, `sm_90a`.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

/// A GPU architecture that code is compiled for (`nvcc -arch`), such as `sm_90`.
///
/// Ordered by compute capability. `sm_90` stands for compute capability 9.0.
///
/// ```
/// use gpukernel_image::Arch;
///
/// let hopper: Arch = "sm_90".parse()?;
/// assert_eq!(hopper, Arch::new(9, 0));
/// assert!(hopper > Arch::new(8, 6));
/// assert_eq!(hopper.to_string(), "sm_90");
/// # Ok::<(), gpukernel_image::ArchError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
#[doc(alias = "compute_capability", alias = "sm")]
pub struct Arch {
    major: u16,
    minor: u16,
    features: Features,
}

/// The suffix of the number, which determines the other architectures that the code runs on
/// (PTX ISA, "PTX Module Directives: .target").
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Features {
    /// `sm_90`: also later minor versions.
    Baseline,
    /// `sm_100f`: the same family.
    Family,
    /// `sm_90a`: only this architecture.
    Specific,
}

impl Arch {
    /// Creates the architecture of compute capability `major.minor`.
    pub const fn new(major: u16, minor: u16) -> Self {
        Self { major, minor, features: Features::Baseline }
    }

    /// Major and minor compute capability.
    pub const fn compute_capability(self) -> (u16, u16) {
        (self.major, self.minor)
    }

    /// Whether machine code for `self` runs on a device of compute capability `major.minor`: the same major
    /// version and no later minor one (CUDA C++ Programming Guide, "Binary Compatibility").
    pub fn machine_code_runs_on(self, device: Arch) -> bool {
        self.major == device.major
            && match self.features {
                Features::Specific => self.minor == device.minor,
                Features::Baseline | Features::Family => self.minor <= device.minor,
            }
    }

    /// Whether the driver can compile PTX for `self` on `device`: on any later architecture, unless the code is specific to its
    /// architecture or family.
    pub fn ptx_runs_on(self, device: Arch) -> bool {
        match self.features {
            Features::Baseline => (self.major, self.minor) <= (device.major, device.minor),
            Features::Family | Features::Specific => self.machine_code_runs_on(device),
        }
    }
}

impl fmt::Display for Arch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let suffix = match self.features {
            Features::Baseline => "",
            Features::Family => "f",
            Features::Specific => "a",
        };
        write!(f, "sm_{}{}{suffix}", self.major, self.minor)
    }
}

/// A text is not the name of an architecture.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a GPU architecture; write it like `sm_90` (compute capability 9.0) or `sm_90a`")]
pub struct ArchError(String);

impl FromStr for Arch {
    type Err = ArchError;

    fn from_str(text: &str) -> Result<Self, ArchError> {
        let error = || ArchError(text.to_owned());
        let rest = text.strip_prefix("sm_").ok_or_else(error)?;
        let (digits, features) = match rest.as_bytes().last() {
            Some(b'a') => (&rest[..rest.len() - 1], Features::Specific),
            Some(b'f') => (&rest[..rest.len() - 1], Features::Family),
            _ => (rest, Features::Baseline),
        };
        if digits.len() < 2 || digits.len() > 4 || !digits.bytes().all(|b| b.is_ascii_digit()) {
            return Err(error());
        }
        let (major, minor) = digits.split_at(digits.len() - 1);
        Ok(Self {
            major: major.parse().map_err(|_| error())?,
            minor: minor.parse().map_err(|_| error())?,
            features,
        })
    }
}

impl TryFrom<String> for Arch {
    type Error = ArchError;

    fn try_from(text: String) -> Result<Self, ArchError> {
        text.parse()
    }
}

impl From<Arch> for String {
    fn from(arch: Arch) -> String {
        arch.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_and_prints() {
        for text in ["sm_75", "sm_90", "sm_90a", "sm_100", "sm_100f", "sm_120"] {
            assert_eq!(text.parse::<Arch>().unwrap().to_string(), text);
        }
        for text in ["", "90", "sm_", "sm_9", "sm_x0", "compute_90", "sm_90b", "sm_12345", "sm_é"] {
            assert_eq!(text.parse::<Arch>(), Err(ArchError(text.to_owned())));
        }
    }

    #[test]
    fn compatibility_follows_the_programming_guide() {
        let arch = |text: &str| text.parse::<Arch>().unwrap();
        assert!(arch("sm_80").machine_code_runs_on(arch("sm_86")));
        assert!(!arch("sm_86").machine_code_runs_on(arch("sm_80")));
        assert!(!arch("sm_80").machine_code_runs_on(arch("sm_90")));
        assert!(arch("sm_75").ptx_runs_on(arch("sm_120")));
        assert!(!arch("sm_90").ptx_runs_on(arch("sm_89")));
        assert!(!arch("sm_90a").ptx_runs_on(arch("sm_100")));
        assert!(arch("sm_100f").ptx_runs_on(arch("sm_103")));
    }
}
