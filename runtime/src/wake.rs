//! The thread of a device on which tasks are woken.
//!
//! An executor may poll the task in `wake`, and drop it with its buffers: what a callback must not do, on a GPU because the driver refuses all calls from
//! there (`CUDA_ERROR_NOT_PERMITTED`), on the CPU device because its stream would wait for itself.

use std::{
    sync::{
        Mutex, PoisonError,
        mpsc::{Sender, channel},
    },
    thread,
};

use crate::{
    Error, Result,
    backend::{Backend, Callback},
    callback,
};

/// One thread per device, however many tasks wait, from the first that does until the program ends.
#[derive(Default)]
pub(crate) struct WakeThread(Mutex<Option<Sender<Callback>>>);

impl WakeThread {
    /// What gives functions to the thread of this device, without waiting for it. It calls one after another.
    ///
    /// # Errors
    /// [`Error::NoThread`].
    pub(crate) fn sender(&self, device: &'static impl Backend) -> Result<Sender<Callback>> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(sender) = &*known {
            return Ok(sender.clone());
        }
        let (sender, functions) = channel::<Callback>();
        let call_all = move || {
            for code in functions {
                if let Some(error) = callback::call(code, || device.describe()) {
                    device.put_error(error);
                }
            }
        };
        match thread::Builder::new().name("gpukernel-wake".to_owned()).spawn(call_all) {
            Ok(_) => Ok(known.insert(sender).clone()),
            Err(reason) => Err(Error::NoThread { device: device.describe(), reason: reason.to_string() }),
        }
    }
}
