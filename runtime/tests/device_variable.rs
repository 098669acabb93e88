//! `GPUKERNEL_DEVICE`, in processes of its own: the driver reads its variables once.

use std::process::Command;

use gpukernel::Device;

/// What [`prints_the_best_device`] prints with these variables.
fn best(variables: &[(&str, &str)]) -> String {
    let mut command = Command::new(std::env::current_exe().expect("a test knows where it is"));
    command.args(["--exact", "prints_the_best_device", "--nocapture"]).envs(variables.iter().copied());
    let output = command.output().expect("it started once");
    let text = String::from_utf8(output.stdout).expect("names are UTF-8");
    let line = text.lines().find_map(|line| line.split_once("best: "));
    line.unwrap_or_else(|| panic!("{text}")).1.to_owned()
}

#[test]
fn prints_the_best_device() {
    match Device::best() {
        Ok(device) => println!("best: {}", device.id()),
        Err(error) => println!("best: {error}"),
    }
}

#[test]
fn it_names_the_device() {
    assert_eq!(best(&[("GPUKERNEL_DEVICE", "cpu")]), "cpu");
    let present = gpukernel::devices().expect("the devices can be listed")[0].id();
    assert_eq!(best(&[("GPUKERNEL_DEVICE", "")]), present, "an empty variable is unset");
    assert_eq!(best(&[("GPUKERNEL_DEVICE", "best")]), present);
    assert!(best(&[("GPUKERNEL_DEVICE", "gpu:999")]).starts_with("gpu:999 was asked for, but the"));
}

#[test]
fn what_it_names_wrongly_is_shown() {
    for name in ["CPU", "cuda", "gpu:", "gpu:x", "cpu ", "0"] {
        let said = best(&[("GPUKERNEL_DEVICE", name)]);
        let expected =
            format!("`{name}` in the environment variable GPUKERNEL_DEVICE names no device; write `cpu`,");
        assert!(said.starts_with(&expected), "{said}");
    }
}

#[test]
fn hidden_gpus_are_not_there() {
    let hidden = ("CUDA_VISIBLE_DEVICES", "");
    assert_eq!(best(&[hidden, ("GPUKERNEL_DEVICE", "best")]), "cpu");
    let said = best(&[hidden, ("GPUKERNEL_DEVICE", "gpu")]);
    assert!(said.starts_with("gpu:0 was asked for, but the"), "{said}");
}
