//! The kernels of crates, built: of all, or of those that can have the one that is asked for.

use gpukernel_build::{KernelFacts, toolchain::Toolchain};

use super::{Args, Crate, sources::Sources};
use crate::{kernel_name, status, suggest, workspace};

/// The kernel that `wanted` means. Crates whose sources do not have the name are built only if none of the others has the kernel.
pub(super) fn the_one<'c, 'w>(
    wanted: &str,
    crates: &'c [Crate<'w>],
    args: &Args,
    toolchain: &Toolchain,
) -> anyhow::Result<(&'c Crate<'w>, KernelFacts)> {
    let sources: Vec<_> = crates.iter().map(|one| Sources::of(one.package)).collect();
    let (likely, others): (Vec<_>, Vec<_>) =
        crates.iter().zip(&sources).partition(|(_, sources)| sources.have(wanted));
    let only = |pairs: &[(&'c Crate<'w>, &Sources)]| pairs.iter().map(|(one, _)| *one).collect::<Vec<_>>();
    let names: Vec<_> = sources.iter().flat_map(Sources::kernels).collect();
    if likely.is_empty() && args.package.is_empty() {
        let alike = suggest::alike(wanted, names);
        anyhow::ensure!(
            alike.is_empty(),
            "there is no kernel `{wanted}` in the sources of the kernel crates; did you mean {}?",
            suggest::quoted(&alike)
        );
    }
    let mut kernels = built(&only(&likely), crates.len(), toolchain)?;
    if kernel_name::matching(wanted, &kernel_names(&kernels)).is_empty() {
        kernels.extend(built(&only(&others), crates.len(), toolchain)?);
    }
    let index = kernel_name::find(wanted, &kernel_names(&kernels))?;
    Ok(kernels.swap_remove(index))
}

fn kernel_names<'k>(kernels: &'k [(&Crate<'_>, KernelFacts)]) -> Vec<&'k str> {
    kernels.iter().map(|(_, facts)| facts.name.as_str()).collect()
}

/// Builds these of so many crates. Of several, those that do not build are left out with a warning.
pub(super) fn built<'c, 'w>(
    crates: &[&'c Crate<'w>],
    count: usize,
    toolchain: &Toolchain,
) -> anyhow::Result<Vec<(&'c Crate<'w>, KernelFacts)>> {
    let (mut kernels, mut built_crates) = (Vec::new(), Vec::new());
    for one in crates {
        status::step("Compiling", format_args!("{} for NVIDIA GPUs", one.package.name));
        match gpukernel_build::build(&one.input, toolchain) {
            Ok(built) => {
                kernels.extend(built.facts.into_iter().map(|facts| (*one, facts)));
                built_crates.push(workspace::library_name(one.package));
            }
            // The kernel may be in another one: some crates build only with what a program links.
            Err(error) if count > 1 => {
                status::warn(format_args!(
                    "left out, because it does not build: `{}`: {error}",
                    one.package.name
                ));
            }
            Err(error) => {
                let what = format!("cannot build the kernel crate `{}`", one.package.name);
                return Err(anyhow::Error::new(error).context(what));
            }
        }
    }
    // The image of a crate has the kernels of those that it depends on, too: each is shown once, as that of the crate that declares it.
    kernels.retain(|(one, facts)| {
        let declared_in = facts.name.split("::").next().unwrap_or_default();
        declared_in == workspace::library_name(one.package)
            || built_crates.iter().all(|name| name != declared_in)
    });
    Ok(kernels)
}
