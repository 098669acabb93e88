//! Several devices, with the simulated driver, whose GPUs 1 and 2 are not connected.

use gpukernel::{Device, Error};

use crate::{alive, apart::are_kept_apart, everything, simulated};

/// What belongs to one device is refused by another, and copies between them are there.
#[test]
fn devices_are_kept_apart() {
    simulated(&[("FAKE_DEVICES", "3")], || {
        let devices = gpukernel::devices()?;
        assert_eq!(devices.iter().map(Device::id).collect::<Vec<_>>(), ["gpu:0", "gpu:1", "gpu:2", "cpu"]);
        for here in &devices {
            for there in devices.iter().filter(|there| *there != here) {
                are_kept_apart(here, there)?;
                // On streams of either, not of a third one.
                let third = devices
                    .iter()
                    .find(|device| *device != here && *device != there)
                    .expect("there are four");
                let (mut own, mut foreign) = (here.zeroed::<u32>(4)?, there.upload(&[1_u32, 2, 3, 4])?);
                for stream in [here.stream()?, there.stream()?] {
                    own.fill(0)?;
                    stream.copy_peer(&foreign, &mut own)?;
                    assert_eq!(own.to_vec()?, [1, 2, 3, 4]);
                    stream.copy_peer(&own, &mut foreign)?;
                    assert!(stream.copy_peer(&foreign, &mut own[1..]).is_err());
                }
                let error = third.stream()?.copy_peer(&foreign, &mut own).unwrap_err();
                assert!(matches!(error, Error::WrongDevice { .. }), "{error}");
                let connected =
                    here.is_gpu() && there.is_gpu() && (here.id() == "gpu:0" || there.id() == "gpu:0");
                assert_eq!(here.can_access_peer(there)?, connected);
                match here.enable_peer_access(there) {
                    Ok(()) => assert!(connected),
                    Err(error) => {
                        assert!(!connected && matches!(error, Error::NoPeerAccess { .. }), "{error}")
                    }
                }
            }
            if here.is_gpu() {
                everything(here)?;
            }
        }
        assert_eq!(alive(), 0);
        Ok(())
    });
}
