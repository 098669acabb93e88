//! Baselines: the reports of earlier runs that were kept under a name. Their samples are criterion's.

use std::fs;

use gpukernel::Device;

use crate::{
    Error,
    folder::Folder,
    report::{BaselineFacts, FORMAT, Report},
};

/// Reads a baseline, and checks that it can be compared with: before anything is measured.
///
/// # Errors
/// If it is not there, damaged, or of another device.
pub(crate) fn load(
    folder: &Folder,
    target: &str,
    name: &str,
    devices: &[Device],
    allow_other_device: bool,
) -> Result<BaselineFacts, Error> {
    let path = folder.baseline(name);
    let text = fs::read_to_string(&path).map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => Error::NoBaseline {
            name: name.to_owned(),
            target: target.to_owned(),
            folder: folder.path().to_owned(),
            known: folder.baselines(),
        },
        _ => damaged(name, &path, &error),
    })?;
    let report: Report = serde_json::from_str(&text).map_err(|error| damaged(name, &path, &error))?;
    if report.format != FORMAT {
        let reason = format!("it is of version {}, and this program reads {FORMAT}", report.format);
        return Err(damaged(name, &path, &reason));
    }
    for device in devices.iter().filter(|_| !allow_other_device) {
        // A device that the baseline does not have has nothing to compare; all others do not either.
        let there = match report.device(&device.id()) {
            Some(there) if there.name == device.name() => continue,
            Some(there) => there.name.clone(),
            None => report.devices.iter().map(|device| device.name.as_str()).collect::<Vec<_>>().join(", "),
        };
        return Err(Error::OtherDevice {
            name: name.to_owned(),
            id: device.id(),
            there,
            here: device.name().to_owned(),
        });
    }
    Ok(BaselineFacts { name: name.to_owned(), started: report.started, commit: report.commit })
}

pub(crate) fn damaged(name: &str, path: &std::path::Path, reason: &dyn std::fmt::Display) -> Error {
    Error::DamagedBaseline { name: name.to_owned(), path: path.to_owned(), reason: reason.to_string() }
}
