//! Loaded kernels, and their launches.

use std::{
    any::TypeId,
    borrow::Cow,
    collections::HashMap,
    fmt,
    io::Write,
    sync::{Arc, PoisonError, RwLock},
};

use gpu_std::{
    Contract, DeviceCopy,
    host::{Kernel, KernelInfo, PackedArgs, RawSlice, RawView, Runtime, SafeKernel},
    signature::Signature,
    view::layout::ViewLayout,
};
use gpukernel_image::{Arch, CodeKind, Manifest};

use crate::{
    Device, DeviceSlice, Error, Image, LaunchConfig, Result, Stream, View, ViewMut,
    constant::Constants,
    cpu,
    cuda::{self, CudaModule, Function},
    device::Backend,
    launch::Rules,
    memory::Uses,
    output::Output,
    stream::StreamBackend,
};

#[doc(hidden)]
/// The types of this runtime, for the arguments of launches: `&DeviceSlice<T>` for `&[T]`, `&mut DeviceSlice<T>` for
/// `PerThread<T>`, [`View`]s and [`ViewMut`]s for parameters with a shape.
#[derive(Debug)]
pub enum ThisRuntime {}

impl Runtime for ThisRuntime {
    type Slice<T: DeviceCopy> = DeviceSlice<T>;
    type View<'a, T: DeviceCopy, S: ViewLayout> = View<'a, T, S>;
    type ViewMut<'a, T: DeviceCopy, S: ViewLayout> = ViewMut<'a, T, S>;

    fn raw_slice<T: DeviceCopy>(slice: &DeviceSlice<T>) -> RawSlice {
        RawSlice {
            address: std::ptr::with_exposed_provenance_mut(slice.address()),
            len: slice.len(),
            element_bytes: size_of::<T>(),
        }
    }

    fn raw_view<T: DeviceCopy, S: ViewLayout>(view: &View<'_, T, S>) -> RawView<S> {
        view.raw()
    }

    fn raw_view_mut<T: DeviceCopy, S: ViewLayout>(view: &ViewMut<'_, T, S>) -> RawView<S> {
        view.raw()
    }
}

/// The kernels of an image, loaded on a device.
///
/// Clones are the same module. It is unloaded when the last is dropped.
#[derive(Clone)]
pub struct Module {
    inner: Arc<Inner>,
}

struct Inner {
    device: Device,
    manifest: Manifest,
    /// The code of a GPU. The CPU's is in the program.
    code: Option<CudaModule>,
    /// Where what its kernels print goes.
    output: Output,
    /// What the host has set.
    constants: Constants,
    /// Kernels that were launched before, and so were checked.
    checked: RwLock<HashMap<TypeId, Checked>>,
}

/// More shared memory than this, static and dynamic, has to be allowed for a kernel (CUDA C++ Programming Guide, "Shared Memory").
const PLAIN_SHARED_BYTES: usize = 48 << 10;

/// What a kernel may have of it besides its arrays: a word of the linker's, and what aligns the dynamic arrays behind it.
const MORE_SHARED_BYTES: usize = 128;

/// A kernel that matches the image.
#[derive(Clone, Copy)]
struct Checked {
    /// Its code, on a GPU.
    function: Option<Function>,
    /// Whether its blocks wait for each other.
    cooperative: bool,
}

impl Module {
    pub(crate) fn load(device: &Device, image: &Image) -> Result<Self> {
        let functions = image.functions();
        let image = gpukernel_image::Image::parse(image.bytes())?;
        let manifest = image.manifest();
        let output = Output::default();
        let code = match device.backend {
            Backend::Cpu(_) => None,
            Backend::Cuda(gpu) => {
                if let Some(reason) = &manifest.no_code {
                    return Err(Error::NoCode {
                        crate_name: manifest.crate_name.clone(),
                        reason: reason.clone(),
                    });
                }
                let arch = gpu.arch();
                let Some(code) = image.cubin_for(arch).or_else(|| image.ptx_for(arch)) else {
                    return Err(Error::NoImageForDevice {
                        crate_name: manifest.crate_name.clone(),
                        device: device.to_string(),
                        arch: arch.to_string(),
                        available: available(&image),
                    });
                };
                let what = || {
                    format!(
                        "the {} for {} of crate `{}`",
                        kind(code.kind()),
                        code.arch(),
                        manifest.crate_name
                    )
                };
                // Machine code was linked with its parts already.
                let linked = match (code.kind(), image.parts()) {
                    (CodeKind::Ptx, parts) if !parts.is_empty() => {
                        Cow::Owned(cuda::link(gpu, code.bytes(), parts, &what)?)
                    }
                    _ => Cow::Borrowed(code.bytes()),
                };
                let mut code = CudaModule::load(gpu, &linked, &what)?;
                code.listen(manifest, &output)?;
                Some(code)
            }
        };
        let checked = RwLock::default();
        Ok(Self {
            inner: Arc::new(Inner {
                device: device.clone(),
                manifest: manifest.clone(),
                code,
                output,
                // SAFETY: whoever made the image promised it.
                constants: unsafe { Constants::new(functions) },
                checked,
            }),
        })
    }

    pub(crate) fn manifest(&self) -> &Manifest {
        &self.inner.manifest
    }

    pub(crate) fn code(&self) -> Option<&CudaModule> {
        self.inner.code.as_ref()
    }

    pub(crate) fn constants(&self) -> &Constants {
        &self.inner.constants
    }

    /// The device it is loaded on.
    pub fn device(&self) -> &Device {
        &self.inner.device
    }

    /// The paths of the kernels in the image, such as `kernels::saxpy`.
    pub fn kernels(&self) -> impl Iterator<Item = &str> {
        self.inner.manifest.kernels.iter().map(|kernel| kernel.name.as_str())
    }

    /// Sends what the kernels of this module print (`gpu_std::println!`) from now on to `writer`, in place of standard output.
    ///
    /// On the CPU each text is written when a thread prints it, on a GPU by the next call that waits for the device. The writer must
    /// not wait for the device itself: it would wait for itself.
    ///
    /// ```
    /// use gpu_std::prelude::*;
    /// use gpukernel::{Device, LaunchConfig};
    /// # use gpukernel::Image;
    /// # use gpukernel_image::{ImageWriter, Manifest};
    ///
    /// #[kernel]
    /// pub fn greet() {
    ///     gpu_std::println!("hello from thread {}", thread_index().x);
    /// }
    ///
    /// # let mut manifest = Manifest::new("doc");
    /// # manifest.no_code = Some("this is an example".to_owned());
    /// # // SAFETY: it holds no code.
    /// # let KERNELS = unsafe { Image::from_bytes(ImageWriter::new(manifest).finish()) };
    /// let device = Device::cpu();
    /// let module = device.load(&KERNELS)?;
    /// let (mut reader, writer) = std::io::pipe().expect("a pipe");
    /// module.set_output(writer);
    /// module.launch(greet, LaunchConfig::new(1, 1), ())?;
    /// device.synchronize()?;
    /// drop(module); // and with it the writer
    /// assert_eq!(std::io::read_to_string(&mut reader).expect("text"), "hello from thread 0\n");
    /// # Ok::<(), gpukernel::Error>(())
    /// ```
    pub fn set_output(&self, writer: impl Write + Send + 'static) {
        self.inner.output.set(Box::new(writer));
    }

    /// Launches a kernel on the device's default stream.
    ///
    /// The configuration is [`for_each`](crate::for_each)`(n)` or a [`LaunchConfig::new`]`(grid_dim, block_dim)`; the arguments are a tuple with one for each
    /// parameter of the kernel. If no thread would run, nothing happens. On a GPU the launch is queued: what goes wrong
    /// when it runs is reported by the next call that waits for it.
    ///
    /// ```
    /// use gpu_std::prelude::*;
    /// use gpukernel::{Device, for_each};
    /// # use gpukernel::Image;
    /// # use gpukernel_image::{ImageWriter, Manifest};
    ///
    /// #[kernel]
    /// pub fn saxpy(a: f32, x: &[f32], y: PerThread<f32>) {
    ///     for (i, y) in y {
    ///         *y += a * x[i];
    ///     }
    /// }
    ///
    /// # let mut manifest = Manifest::new("doc");
    /// # manifest.no_code = Some("this is an example".to_owned());
    /// # // SAFETY: it holds no code.
    /// # let KERNELS = unsafe { Image::from_bytes(ImageWriter::new(manifest).finish()) };
    /// let device = Device::cpu();
    /// let module = device.load(&KERNELS)?;
    /// let x = device.upload(&[1.0, 2.0, 3.0])?;
    /// let mut y = device.filled(3, 1.0)?;
    /// module.launch(saxpy, for_each(y.len()), (2.0, &x, &mut y))?;
    /// assert_eq!(y.to_vec()?, [3.0, 5.0, 7.0]);
    /// # Ok::<(), gpukernel::Error>(())
    /// ```
    ///
    /// # Errors
    /// If the launch breaks the kernel's contract or a limit of the device, if an argument lies on another device, if the
    /// image does not hold this kernel or is older than the program, or what the driver says. On the CPU also
    /// [`Error::KernelPanicked`], [`Error::DivergentBarrier`], [`Error::DivergentWarp`] and [`Error::UnmetBarrier`], and with
    /// `GPUKERNEL_CHECK=1` [`Error::EndedBeforeBarrier`] and [`Error::Race`].
    pub fn launch<K: SafeKernel>(
        &self,
        kernel: K,
        config: LaunchConfig,
        args: K::Args<'_, ThisRuntime>,
    ) -> Result<()> {
        self.inner.device.default_stream().launch(self, kernel, config, args)
    }

    /// Launches a kernel that was declared as `unsafe fn`, on the device's default stream.
    ///
    /// # Errors
    /// As [`launch`](Self::launch): nothing that is checked there is left out.
    ///
    /// # Safety
    /// What the kernel's function asks for in its own `# Safety` section; and the module's image was built from the crate that declares
    /// it, not from one that has a kernel of the same signature with another such section.
    pub unsafe fn launch_unsafe<K: Kernel>(
        &self,
        kernel: K,
        config: LaunchConfig,
        args: K::Args<'_, ThisRuntime>,
    ) -> Result<()> {
        // SAFETY: as the caller promises.
        unsafe { self.launch_on(&self.inner.device.default_stream(), kernel, config, args) }
    }

    /// Launches a kernel on a stream. Only this is compiled for each kernel; the rest is the same for all.
    ///
    /// # Safety
    /// As for [`launch_unsafe`](Self::launch_unsafe).
    pub(crate) unsafe fn launch_on<K: Kernel>(
        &self,
        stream: &Stream,
        _kernel: K,
        config: LaunchConfig,
        args: K::Args<'_, ThisRuntime>,
    ) -> Result<()> {
        // SAFETY: as the caller promises; the arguments are packed by the kernel of the description.
        unsafe {
            self.launch_packed(stream, TypeId::of::<K>(), K::INFO, config, &K::pack::<ThisRuntime>(args))
        }
    }

    /// Checks a launch, and queues or runs it.
    ///
    /// # Safety
    /// As for [`launch_unsafe`](Self::launch_unsafe) of this kernel, which packed the arguments, from borrows that last as long as this call.
    /// `id` is that of its type.
    unsafe fn launch_packed(
        &self,
        stream: &Stream,
        id: TypeId,
        kernel: &'static KernelInfo,
        config: LaunchConfig,
        args: &PackedArgs,
    ) -> Result<()> {
        let inner = &*self.inner;
        let doing = || format!("a launch of `{}`", kernel.name);
        stream.check_device(&inner.device, &doing)?;
        let checked = inner.check(id, kernel, args)?;

        let limits = inner.device.limits();
        let rules = Rules {
            kernel: kernel.name,
            contract: &kernel.contract,
            kernel_max_threads: checked
                .function
                .map_or(limits.max_threads_per_block, |function| function.max_threads),
            limits,
            device: &inner.device,
        };
        rules.check_tiles(config, args)?;
        let shape = config.check(&rules)?;
        // SAFETY: packed by this kernel.
        if let Some(unmet) = unsafe { (kernel.unmet)(args) } {
            return Err(Error::RequirementNotMet { kernel: kernel.name.to_owned(), unmet });
        }
        let shared = rules.check_shared(kernel.shared, kernel.dynamic_arrays, args)?;
        let not_empty = args.memory().iter().filter(|(slice, _)| slice.len * slice.element_bytes != 0);
        let addresses = not_empty.map(|(slice, access)| (slice.address.addr(), *access));
        let uses = Uses::find(addresses, &inner.device, &doing)?;
        let Some(shape) = shape else { return Ok(()) };

        match &stream.backend {
            // SAFETY: the arguments were packed by this kernel, from borrows that last as long as this call, and all memory is
            // the CPU's. The shape keeps to the contract; what an unsafe kernel asks for is the caller's promise.
            StreamBackend::Cpu => unsafe {
                // A copy of the pointer: a kernel may set constants of its own module for later launches.
                let constants = Arc::clone(&inner.constants.read());
                cpu::launch(
                    kernel,
                    args,
                    shape,
                    shared.on_host,
                    &constants,
                    &inner.output,
                    checked.cooperative,
                )
            },
            StreamBackend::Cuda(stream) => {
                let function = checked.function.ok_or_else(|| inner.no_such_kernel(kernel.name))?;
                if kernel.contract.cluster[0] != 0 && stream.device().arch() < Arch::new(9, 0) {
                    let device = inner.device.to_string();
                    return Err(Error::NoClusters { kernel: kernel.name.to_owned(), device });
                }
                let dynamic_bytes = shared.dynamic_bytes;
                if dynamic_bytes > 0 && shared.on_host.size() + MORE_SHARED_BYTES > PLAIN_SHARED_BYTES {
                    let allowed_bytes = limits.max_shared_bytes_per_block;
                    let own_bytes = function.allow_all_shared(stream.device(), allowed_bytes)?;
                    let asked_bytes = own_bytes + dynamic_bytes as usize;
                    if asked_bytes > allowed_bytes {
                        let (kernel, limited_by) = (kernel.name.to_owned(), inner.device.to_string());
                        return Err(Error::SharedTooLarge { kernel, asked_bytes, allowed_bytes, limited_by });
                    }
                }
                if checked.cooperative {
                    let allowed =
                        function.max_resident_blocks(stream.device(), shape.block, dynamic_bytes)?;
                    let asked = shape.grid.count();
                    if asked > allowed.into() {
                        let (kernel, device) = (kernel.name.to_owned(), inner.device.to_string());
                        return Err(Error::GridNotResident { kernel, asked, allowed, device });
                    }
                }
                // Constants are not set while this is queued.
                let _constants = inner.constants.read();
                let _launching = inner.code.as_ref().and_then(CudaModule::launching);
                cuda::ordered(stream, &uses.on_gpu(), || {
                    // SAFETY: the module is loaded; `check` found the parameters to be those of the code; that the kernel is sound
                    // is the promise of `Kernel` and of the caller; the memory is ordered, and all of it was found above.
                    unsafe {
                        function.launch(
                            stream,
                            shape.grid,
                            shape.block,
                            dynamic_bytes,
                            checked.cooperative,
                            args.pointers(),
                        )
                    }
                })
            }
        }
    }
}

impl Inner {
    /// Compares the kernel with the image, at its first launch.
    fn check(&self, id: TypeId, kernel: &KernelInfo, args: &PackedArgs) -> Result<Checked> {
        if let Some(checked) = self.checked.read().unwrap_or_else(PoisonError::into_inner).get(&id) {
            return Ok(*checked);
        }
        let checked = self.check_first(kernel, args)?;
        self.checked.write().unwrap_or_else(PoisonError::into_inner).insert(id, checked);
        Ok(checked)
    }

    fn check_first(&self, kernel: &KernelInfo, args: &PackedArgs) -> Result<Checked> {
        // Builds without device code may have no list of kernels either.
        if self.manifest.no_code.is_some() {
            return Ok(Checked { function: None, cooperative: false });
        }
        let KernelInfo { name, signature, contract, .. } = kernel;
        let missing = || self.no_such_kernel(name);
        let kernel = self.manifest.kernel(name).ok_or_else(missing)?;
        if let Some(difference) = difference(kernel, args, signature, contract) {
            return Err(Error::StaleImage { kernel: (*name).to_owned(), difference });
        }
        let function = match &self.code {
            None => None,
            Some(code) => Some(code.function(&kernel.symbol)?.ok_or_else(missing)?),
        };
        Ok(Checked { function, cooperative: kernel.cooperative })
    }

    fn no_such_kernel(&self, kernel: &str) -> Error {
        Error::NoSuchKernel {
            kernel: kernel.to_owned(),
            crate_name: self.manifest.crate_name.clone(),
            available: self.manifest.kernels.iter().map(|kernel| kernel.name.clone()).collect(),
        }
    }
}

/// How the kernel in the image differs from the one in the program, if it does.
fn difference(
    image: &gpukernel_image::Kernel,
    args: &PackedArgs,
    signature: &Signature,
    contract: &Contract,
) -> Option<String> {
    let here = signature.to_string();
    if let Some(difference) = signatures_differ(&image.signature, &here, &KERNEL_LINES) {
        return Some(difference);
    }
    // Of equal types, that is; but this is what the driver is given.
    let in_image = image.parameters.iter().map(|parameter| (parameter.size_bytes, parameter.align_bytes));
    let in_program = args.layouts().map(|layout| (layout.size(), layout.align()));
    if in_image.len() != in_program.len() {
        return Some(format!("it has {} parameters there, {} here", in_image.len(), in_program.len()));
    }
    for (index, (there, here)) in in_image.zip(in_program).enumerate() {
        if there != here {
            return Some(format!(
                "its parameter {index} has {} bytes aligned to {} there, {} aligned to {} here",
                there.0, there.1, here.0, here.1
            ));
        }
    }
    (image.contract != *contract).then(|| "it has another launch contract".to_owned())
}

/// What the lines of a kernel's signature say before those of its parameters.
const KERNEL_LINES: [&str; 4] = ["package", "function", "requirement", "shared memory"];

/// Where the signature in an image differs from that in the program, which begins with the path; `lines` names its lines, others are
/// parameters.
pub(crate) fn signatures_differ(there: &[String], here: &str, lines: &[&str]) -> Option<String> {
    let here: Vec<&str> = here.split('\n').skip(1).collect();
    let parameters = (there.len().saturating_sub(lines.len()), here.len().saturating_sub(lines.len()));
    let same_head = here.len() >= lines.len()
        && there.get(..lines.len()).is_some_and(|head| head == &here[..lines.len()]);
    if same_head && parameters.0 != parameters.1 {
        return Some(format!("it has {} parameters there, {} here", parameters.0, parameters.1));
    }
    for index in 0..there.len().max(here.len()) {
        let line = |line: Option<&str>| line.map_or("nothing".to_owned(), |line| format!("`{line}`"));
        let (there, here) = (there.get(index).map(String::as_str), here.get(index).copied());
        if there != here {
            let what = match lines.get(index) {
                Some(name) => (*name).to_owned(),
                None => format!("parameter {}", index - lines.len()),
            };
            return Some(format!("its {what} is {} there, {} here", line(there), line(here)));
        }
    }
    None
}

fn available(image: &gpukernel_image::Image<'_>) -> String {
    match image.code() {
        [] => "nothing".to_owned(),
        code => {
            let pieces = code.iter().map(|code| format!("{} for {}", kind(code.kind()), code.arch()));
            pieces.collect::<Vec<_>>().join(", ")
        }
    }
}

fn kind(kind: CodeKind) -> &'static str {
    match kind {
        CodeKind::Ptx => "PTX",
        CodeKind::Cubin => "machine code",
    }
}

impl fmt::Debug for Module {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Module")
            .field("crate_name", &self.inner.manifest.crate_name)
            .field("device", &self.inner.device)
            .finish_non_exhaustive()
    }
}
