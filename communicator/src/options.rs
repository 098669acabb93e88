//! How a communicator works.

use std::time::Duration;

/// How a communicator works: [`World::communicator_with`](crate::World::communicator_with).
///
/// ```
/// use std::time::Duration;
/// use gpukernel_communicator::Options;
///
/// let options = Options::new().timeout(Duration::from_secs(20)).through_host();
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub struct Options {
    pub(crate) timeout: Duration,
    pub(crate) setup_timeout: Duration,
    pub(crate) is_through_host: bool,
}

impl Options {
    /// The longest wait if nobody says: as long as a process may be late because it reads files or writes a checkpoint.
    pub const DEFAULT_TIMEOUT: Duration = Duration::from_secs(300);

    /// A timeout of five minutes, and NCCL for GPUs.
    pub const fn new() -> Self {
        let timeout = Self::DEFAULT_TIMEOUT;
        Self { timeout, setup_timeout: timeout, is_through_host: false }
    }

    /// How long an operation may take from when it is started, work of the device included that it comes after. Then it fails, and with it the
    /// communicator: another process died, or is late.
    #[doc(alias = "NCCL_TIMEOUT")]
    pub const fn timeout(self, timeout: Duration) -> Self {
        Self { timeout, ..self }
    }

    /// How long making a communicator may take, for which all processes have to come, and NCCL alone may need ten seconds.
    pub const fn setup_timeout(self, setup_timeout: Duration) -> Self {
        Self { setup_timeout, ..self }
    }

    /// Uses no NCCL for a GPU: elements are copied to the host and moved by MPI. For GPUs that several processes share, which NCCL refuses, and
    /// where there is no NCCL. On the CPU device nothing changes.
    #[doc(alias = "staging", alias = "gloo")]
    pub const fn through_host(self) -> Self {
        Self { is_through_host: true, ..self }
    }
}

impl Default for Options {
    fn default() -> Self {
        Self::new()
    }
}
