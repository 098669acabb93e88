//! Kernels in PTX, so that the tests of the CUDA side need no device toolchain.

use gpukernel::Image;
use gpukernel_image::{Arch, Contract, ImageWriter, Kernel, Manifest, Parameter, Resources};

/// `add(by, y)` adds to every element of `y` that a thread has; its parameters are those of
/// `#[kernel] fn add(by: u32, y: PerThread<u32>)` with one thread per element. `slow(from, to, count)` waits for some ten
/// milliseconds and then copies. `stray(address)` writes to the address. `trap_now()` traps. `tally(by)` adds `by` times the constant
/// `step` to the variable `total`.
pub(crate) const KERNELS: &str = "
.version 6.3
.target sm_75
.address_size 64

.visible .const .align 4 .u32 step = 2;
.visible .global .align 4 .u32 total;

.visible .entry tally(.param .u32 by)
{
    .reg .b32 %r<4>;
    ld.param.u32 %r1, [by];
    ld.const.u32 %r2, [step];
    mul.lo.u32 %r3, %r1, %r2;
    red.global.add.u32 [total], %r3;
    ret;
}

.visible .entry add(.param .u32 by, .param .u64 start, .param .u64 len)
{
    .reg .pred %out;
    .reg .b32 %r<6>;
    .reg .b64 %rd<6>;
    ld.param.u32 %r1, [by];
    ld.param.u64 %rd1, [start];
    ld.param.u64 %rd2, [len];
    mov.u32 %r2, %ctaid.x;
    mov.u32 %r3, %ntid.x;
    mov.u32 %r4, %tid.x;
    mad.lo.u32 %r5, %r2, %r3, %r4;
    cvt.u64.u32 %rd3, %r5;
    setp.ge.u64 %out, %rd3, %rd2;
    @%out ret;
    cvta.to.global.u64 %rd4, %rd1;
    shl.b64 %rd3, %rd3, 2;
    add.u64 %rd5, %rd4, %rd3;
    ld.global.u32 %r2, [%rd5];
    add.u32 %r2, %r2, %r1;
    st.global.u32 [%rd5], %r2;
    ret;
}

.visible .entry slow(.param .u64 from, .param .u64 to, .param .u32 count)
{
    .reg .pred %p<3>;
    .reg .b32 %r<6>;
    .reg .b64 %rd<9>;
    ld.param.u64 %rd1, [from];
    ld.param.u64 %rd2, [to];
    ld.param.u32 %r1, [count];
    mov.u64 %rd3, %clock64;
wait:
    mov.u64 %rd4, %clock64;
    sub.u64 %rd5, %rd4, %rd3;
    setp.lt.u64 %p1, %rd5, 20000000;
    @%p1 bra wait;
    mov.u32 %r2, %ctaid.x;
    mov.u32 %r3, %ntid.x;
    mov.u32 %r4, %tid.x;
    mad.lo.u32 %r5, %r2, %r3, %r4;
    setp.ge.u32 %p2, %r5, %r1;
    @%p2 ret;
    cvta.to.global.u64 %rd1, %rd1;
    cvta.to.global.u64 %rd2, %rd2;
    mul.wide.u32 %rd6, %r5, 4;
    add.u64 %rd7, %rd1, %rd6;
    add.u64 %rd8, %rd2, %rd6;
    ld.global.u32 %r2, [%rd7];
    st.global.u32 [%rd8], %r2;
    ret;
}

.visible .entry stray(.param .u64 address)
{
    .reg .b64 %rd<2>;
    .reg .b32 %r<2>;
    ld.param.u64 %rd1, [address];
    mov.u32 %r1, 1;
    st.global.u32 [%rd1], %r1;
    ret;
}

.visible .entry trap_now()
{
    trap;
    ret;
}
";

/// An image in which `add` of the PTX is the code of a kernel; `change` changes its description.
///
/// # Safety
/// The kernel does what `add` does, if its description is not refused.
#[allow(dead_code, reason = "not every test file launches it as a kernel")]
pub(crate) unsafe fn image_of_add<K: gpu_std::host::Kernel>(
    kernel: K,
    change: impl FnOnce(&mut Kernel),
) -> Image {
    // SAFETY: as the caller promises.
    unsafe { image_for(Arch::new(7, 5), kernel, change) }
}

/// The same, with the PTX as that for another architecture.
///
/// # Safety
/// As for [`image_of_add`].
#[allow(dead_code, reason = "as above")]
pub(crate) unsafe fn image_for<K: gpu_std::host::Kernel>(
    arch: Arch,
    kernel: K,
    change: impl FnOnce(&mut Kernel),
) -> Image {
    // SAFETY: as the caller promises.
    unsafe { image_of(arch, KERNELS, kernel, change) }
}

/// An image of other PTX, whose code of the kernel is `add`, with its parameters, unless `change` says otherwise.
///
/// # Safety
/// The kernel does what that code does, if its description is not refused.
#[allow(dead_code, reason = "as above")]
pub(crate) unsafe fn image_of<K: gpu_std::host::Kernel>(
    arch: Arch,
    ptx: &str,
    _: K,
    change: impl FnOnce(&mut Kernel),
) -> Image {
    let parameter = |bytes| Parameter { size_bytes: bytes, align_bytes: bytes };
    let mut kernel = Kernel {
        name: K::INFO.name.to_owned(),
        symbol: "add".to_owned(),
        parameters: vec![parameter(4), parameter(8), parameter(8)],
        signature: K::INFO.signature.to_string().lines().skip(1).map(str::to_owned).collect(),
        contract: Contract { dims: 1, ..Contract::NONE },
        cooperative: false,
        resources: [(arch, Resources::default())].into(),
        waits: [].into(),
    };
    change(&mut kernel);
    let mut manifest = Manifest::new("gpu");
    manifest.kernels.push(kernel);
    let mut writer = ImageWriter::new(manifest);
    writer.add_ptx(arch, ptx);
    // SAFETY: as the caller promises.
    unsafe { Image::from_bytes(writer.finish()) }
}
