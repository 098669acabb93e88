//! From PTX to machine code, together with foreign code, as the plan says.

use gpukernel_image::Arch;

use crate::{
    Error, Timings,
    assemble::{self, Assembled},
    device_link::{DeviceLinker, LtoIr},
    foreign::{Foreign, Names},
    link::Linked,
    llvm::Llvm,
    plan::{Finish, Plan},
    toolchain::CudaPart,
};

/// What comes after optimisation and code generation by LLVM.
pub(crate) struct Finished {
    /// By architecture: what the driver does not have to compile.
    pub(crate) assembled: Vec<Assembled>,
    pub(crate) lto: LtoCode,
}

/// The kernels as LTO-IR.
#[derive(Default)]
pub(crate) struct LtoCode {
    /// To be linked with foreign code.
    pub(crate) linked: Option<LtoIr>,
    /// For [`Emit::LtoIr`](crate::Emit::LtoIr).
    pub(crate) emitted: Option<Vec<u8>>,
}

/// What the steps before have made.
#[cfg_attr(not(feature = "lto"), expect(dead_code, reason = "LTO-IR is made of some of it"))]
pub(crate) struct FinishInput<'a> {
    pub(crate) llvm: &'static Llvm,
    /// The name of the kernel crate.
    pub(crate) name: &'a str,
    pub(crate) linked: &'a Linked,
    pub(crate) ptx: &'a [(Arch, String)],
    pub(crate) foreign: &'a Foreign,
    /// The functions of foreign code that is linked now.
    pub(crate) names: &'a Names,
}

/// Compares prototypes, and makes machine code.
pub(crate) fn finish(
    plan: &Plan<'_>,
    input: &FinishInput<'_>,
    timings: &mut Timings,
) -> Result<Finished, Error> {
    input.foreign.check_prototypes(&input.ptx[0].1)?;
    #[cfg(feature = "lto")]
    let lto = lto_code(plan, input, timings)?;
    #[cfg(not(feature = "lto"))]
    let lto = LtoCode::default();
    let sources: Vec<_> = input.ptx.iter().filter(|(arch, _)| plan.machine_archs.contains(arch)).collect();
    let assembled = match plan.finish {
        Finish::PtxOnly => Vec::new(),
        Finish::Check { ptxas, arch } => {
            let source = input.ptx.iter().find(|(of, _)| *of == arch);
            let check =
                || source.map_or(Ok(()), |source| assemble::check(ptxas, source, &plan.work_dir, input.name));
            timings.step("check PTX", check)?;
            Vec::new()
        }
        Finish::Assemble { ptxas } => {
            timings.step("assemble", || assemble::assemble(ptxas, &sources, &plan.work_dir, input.name))?
        }
        Finish::DeviceLink { ptxas, nvlink } => {
            let linker = DeviceLinker {
                ptxas,
                nvlink,
                cuobjdump: plan.tool(CudaPart::Cuobjdump),
                dir: &plan.work_dir,
                name: input.name,
                lto_ir: lto.linked.as_ref(),
            };
            timings.step("assemble and link", || linker.link(&sources, input.foreign))?
        }
    };
    Ok(Finished { assembled, lto })
}

/// Makes LTO-IR of the kernels, if the plan has it.
#[cfg(feature = "lto")]
fn lto_code(plan: &Plan<'_>, input: &FinishInput<'_>, timings: &mut Timings) -> Result<LtoCode, Error> {
    use crate::{
        link,
        lto::{self, LtoError, Optimiser},
    };

    let Some(lto) = &plan.lto else { return Ok(LtoCode::default()) };
    let optimiser = Optimiser::new(lto.tools, &plan.work_dir, plan.lowest, input.foreign);
    let wanted = |names: &[&str]| optimiser.functions(names);
    input.foreign.check_lto_prototypes(&input.ptx[0].1, &input.names.defined, wanted)?;
    let nvvm_ir = || -> Result<String, Error> {
        let text = link::plain_text(input.llvm, input.linked, plan.lowest)?;
        Ok(lto::translate(&text).map_err(LtoError::from)?)
    };
    let linked = match lto.is_linked {
        true => Some(timings.step("make LTO-IR", || optimiser.prepare(&nvvm_ir()?))?),
        false => None,
    };
    let emitted = match lto.is_emitted {
        true => Some(optimiser.lto_ir(&nvvm_ir()?)?),
        false => None,
    };
    Ok(LtoCode { linked, emitted })
}
