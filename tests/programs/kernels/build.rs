//! Writes the programs of the seeds in `GPUKERNEL_PROGRAM_SEEDS`, such as `500..1000`; of the first fifty without it.

use std::{env, error::Error, fs, path::PathBuf};

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-env-changed=GPUKERNEL_PROGRAM_SEEDS");
    let seeds = env::var("GPUKERNEL_PROGRAM_SEEDS").unwrap_or_else(|_| "0..50".to_owned());
    let (first, end) =
        seeds.split_once("..").ok_or("GPUKERNEL_PROGRAM_SEEDS is no range, such as 500..1000")?;
    let source = program_generator::batch(first.parse()?..end.parse()?);
    Ok(fs::write(PathBuf::from(env::var("OUT_DIR")?).join("programs.rs"), source)?)
}
