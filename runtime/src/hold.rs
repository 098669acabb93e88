//! Holding streams back, so that work is queued before it runs.

use std::fmt;

use crate::{
    Result, Stream,
    backend::{BackendStream, Release, each},
};

/// A stream that is held back: see [`Stream::hold`]. Dropping it releases the stream.
#[must_use = "the stream is released when this is dropped"]
pub struct Hold {
    held: Box<dyn Release>,
}

impl Hold {
    pub(crate) fn new(stream: &Stream) -> Result<Self> {
        Ok(Self { held: each!(&stream.backend, stream => stream.hold()?) })
    }

    /// Lets the queued work run; again has no effect. May be called from any thread, also while another waits for room in the stream.
    pub fn release(&self) {
        self.held.release();
    }
}

impl fmt::Debug for Hold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Hold").finish_non_exhaustive()
    }
}
