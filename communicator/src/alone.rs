//! The one process of a program that was built without MPI.

use std::env;

use gpukernel::Device;

use crate::{Error, Options, Result, local::Local, transport::Transport};

/// Variables that mpirun and Slurm set to the number of processes: Open MPI, MPICH and Intel MPI, MVAPICH, srun.
const VARIABLES: [&str; 4] =
    ["OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MV2_COMM_WORLD_SIZE", "SLURM_STEP_NUM_TASKS"];

/// What `mpi::World` is with MPI.
pub(crate) struct World {
    pub(crate) rank: usize,
    pub(crate) size: usize,
    pub(crate) local_rank: usize,
}

impl World {
    pub(crate) fn initialise(_: Options) -> Result<Self> {
        is_alone(|name| env::var(name).ok())?;
        Ok(Self { rank: 0, size: 1, local_rank: 0 })
    }

    #[expect(clippy::unused_self, reason = "as with MPI")]
    pub(crate) fn transport(&self, device: &Device, _: Options) -> Result<Box<dyn Transport>> {
        Ok(Box::new(Local::new(device)?))
    }

    #[expect(clippy::unused_self, clippy::unnecessary_wraps, reason = "as with MPI")]
    pub(crate) fn finalize(self) -> Result<()> {
        Ok(())
    }
}

/// Fails if this is one of several processes.
fn is_alone(variable: impl Fn(&str) -> Option<String>) -> Result<()> {
    for name in VARIABLES {
        if let Some(processes) = variable(name).and_then(|value| value.parse().ok())
            && processes > 1
        {
            return Err(Error::NeedsMpi { processes, variable: name });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn several_processes_without_mpi_are_refused() {
        let of = |set: &'static str, value: &'static str| {
            move |name: &str| (name == set).then(|| value.to_owned())
        };
        assert!(is_alone(of("OTHER", "4")).is_ok());
        assert!(is_alone(of("OMPI_COMM_WORLD_SIZE", "1")).is_ok());
        assert!(is_alone(of("OMPI_COMM_WORLD_SIZE", "no number")).is_ok());
        let error = is_alone(of("SLURM_STEP_NUM_TASKS", "4")).unwrap_err().to_string();
        assert!(error.contains("one of 4 processes") && error.contains("feature `mpi`"), "{error}");
    }
}
