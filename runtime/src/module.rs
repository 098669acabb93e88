//! Loaded kernels, and their launches.

use std::{any::TypeId, fmt, io::Write, panic::Location, sync::Arc};

use gpu_std::{
    Contract, DeviceCopy,
    host::{Kernel, KernelInfo, PackedArgs, RawSlice, RawView, Runtime, SafeKernel},
    signature::Signature,
    view::layout::{LayoutNd, LayoutPlane, ViewLayout},
};
use gpukernel_image::Manifest;

use crate::{
    Device, DeviceSlice, Error, Extents, Image, KernelAttributes, LaunchConfig, Result, Stream, View,
    ViewMut,
    backend::{Any, Backend, BackendModule, ImageCode, Modules, OfDevice, each},
    loaded::{Entry, Loaded, LoadedImage},
    observed,
    output::Output,
    prepared::{Lists, PreparedLaunch, Program, Request},
    replay,
    view::raw_slice,
    workspace::Workspaces,
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
        raw_slice::<T>(slice.place(), slice.len())
    }

    fn raw_view<T: DeviceCopy, S: ViewLayout>(view: &View<'_, T, S>) -> RawView<S> {
        view.raw()
    }

    fn plane<'a, T: DeviceCopy>(
        view: &Self::View<'a, T, LayoutNd>,
    ) -> Option<Self::View<'a, T, LayoutPlane>> {
        view.as_plane()
    }

    fn plane_mut<'a, T: DeviceCopy>(
        view: Self::ViewMut<'a, T, LayoutNd>,
    ) -> std::result::Result<Self::ViewMut<'a, T, LayoutPlane>, Self::ViewMut<'a, T, LayoutNd>> {
        view.as_plane()
    }

    fn raw_view_mut<T: DeviceCopy, S: ViewLayout>(view: &ViewMut<'_, T, S>) -> RawView<S> {
        view.raw()
    }
}

/// What cannot be recorded, because its caller's promise is of one launch.
pub(crate) const UNSAFE_KERNEL: &str = "a launch of an `unsafe fn` kernel";

/// The kernels of an image, loaded on a device.
///
/// Clones are the same module. It is unloaded when the last is dropped.
#[derive(Clone)]
pub struct Module {
    inner: Arc<Inner>,
    /// Where launches are queued, if not on the device's default stream.
    stream: Option<Stream>,
}

struct Inner {
    device: Device,
    manifest: Manifest,
    code: Any<Modules>,
    /// Where what its kernels print goes.
    output: Output,
    workspaces: Workspaces,
}

impl Module {
    pub(crate) fn load(device: &Device, image: &Image) -> Result<Self> {
        let functions = image.functions();
        let image = gpukernel_image::Image::parse(image.bytes())?;
        let output = Output::default();
        let code = ImageCode { image: &image, functions, output: &output };
        let code = each!(&device.backend, device => load(*device, &code))?;
        let manifest = image.into_manifest();
        let inner = Arc::new(Inner {
            device: device.clone(),
            manifest,
            code,
            output,
            workspaces: Workspaces::default(),
        });
        Ok(Self { inner, stream: None })
    }

    pub(crate) fn manifest(&self) -> &Manifest {
        &self.inner.manifest
    }

    pub(crate) fn workspaces(&self) -> &Workspaces {
        &self.inner.workspaces
    }

    pub(crate) fn code(&self) -> &Any<Modules> {
        &self.inner.code
    }

    /// The device it is loaded on.
    pub fn device(&self) -> &Device {
        &self.inner.device
    }

    /// Returns the same module with launches on a stream in place of the device's default stream: for functions that are given a module, as those of arrays are.
    ///
    /// ```
    /// use gpu_std::prelude::*;
    /// use gpukernel::{Device, for_each};
    /// # use gpukernel::Image;
    /// # use gpukernel_image::{ImageWriter, Manifest};
    ///
    /// #[kernel]
    /// pub fn double(x: PerThread<f32>) {
    ///     for (_, x) in x {
    ///         *x *= 2.0;
    ///     }
    /// }
    ///
    /// # let mut manifest = Manifest::new("doc");
    /// # manifest.no_code = Some("this is an example".to_owned());
    /// # // SAFETY: it holds no code.
    /// # let KERNELS = unsafe { Image::from_bytes(ImageWriter::new(manifest).finish()) };
    /// let device = Device::cpu();
    /// let stream = device.stream()?;
    /// let module = device.load(&KERNELS)?.on(&stream);
    /// let mut x = device.upload(&[1.0, 2.0])?;
    /// module.launch(double, for_each(2), (&mut x,))?;
    /// stream.synchronize()?;
    /// assert_eq!(x.to_vec()?, [2.0, 4.0]);
    /// # Ok::<(), gpukernel::Error>(())
    /// ```
    ///
    /// A launch is [`Error::WrongDevice`] if the stream is of another device, and [`Error::NotCapturable`] if it is part of a graph that is captured, whose launches
    /// are those of [`Stream::launch`].
    pub fn on(&self, stream: &Stream) -> Self {
        Self { inner: Arc::clone(&self.inner), stream: Some(stream.clone()) }
    }

    /// Returns the stream on which launches are queued: that of [`on`](Self::on), or the device's default stream.
    ///
    /// ```
    /// # use gpukernel::{Device, Image};
    /// # use gpukernel_image::{ImageWriter, Manifest};
    /// # let mut manifest = Manifest::new("doc");
    /// # manifest.no_code = Some("this is an example".to_owned());
    /// # // SAFETY: it holds no code.
    /// # let KERNELS = unsafe { Image::from_bytes(ImageWriter::new(manifest).finish()) };
    /// let module = Device::cpu().load(&KERNELS)?;
    /// assert!(module.stream().is_done()?);
    /// # Ok::<(), gpukernel::Error>(())
    /// ```
    pub fn stream(&self) -> Stream {
        self.stream.clone().unwrap_or_else(|| self.device().default_stream())
    }

    /// The paths of the kernels in the image, such as `kernels::saxpy`.
    pub fn kernels(&self) -> impl Iterator<Item = &str> {
        self.inner.manifest.kernels.iter().map(|kernel| kernel.name.as_str())
    }

    /// What a kernel takes of a GPU in blocks of `block_dim` threads, without dynamic shared memory: registers, local and shared memory, and how many
    /// blocks a multiprocessor runs at once (`cudaFuncGetAttributes`, `cudaOccupancyMaxActiveBlocksPerMultiprocessor`). `None` on the CPU device.
    ///
    /// ```
    /// use gpu_std::prelude::*;
    /// # use gpukernel::{Device, Image};
    /// # use gpukernel_image::{ImageWriter, Manifest};
    ///
    /// #[kernel]
    /// pub fn double(x: PerThread<f32>) {
    ///     for (_, x) in x {
    ///         *x *= 2.0;
    ///     }
    /// }
    ///
    /// # let mut manifest = Manifest::new("doc");
    /// # manifest.no_code = Some("this is an example".to_owned());
    /// # // SAFETY: it holds no code.
    /// # let KERNELS = unsafe { Image::from_bytes(ImageWriter::new(manifest).finish()) };
    /// # let device = Device::cpu();
    /// let module = device.load(&KERNELS)?;
    /// // On a GPU also registers, local and shared memory.
    /// let occupancy = module.attributes(double, 256)?.map(|attributes| attributes.occupancy());
    /// assert_eq!(occupancy, None);
    /// # Ok::<(), gpukernel::Error>(())
    /// ```
    ///
    /// # Errors
    /// If the image does not hold this kernel or is older than the program, or what the driver says.
    #[doc(
        alias = "cudaFuncGetAttributes",
        alias = "cuFuncGetAttribute",
        alias = "cudaOccupancyMaxActiveBlocksPerMultiprocessor",
        alias = "occupancy",
        alias = "get_regs_per_thread"
    )]
    pub fn attributes<K: Kernel>(
        &self,
        kernel: K,
        block_dim: impl Into<Extents>,
    ) -> Result<Option<KernelAttributes>> {
        self.attributes_with_shared(kernel, block_dim, 0)
    }

    /// What a kernel takes in blocks with so many bytes of dynamic shared memory ([`SharedSlice`](gpu_std::SharedSlice)), as [`attributes`](Self::attributes). Of more than
    /// a block can have, a multiprocessor runs no block.
    ///
    /// ```
    /// use gpu_std::prelude::*;
    /// # use gpukernel::{Device, Image};
    /// # use gpukernel_image::{ImageWriter, Manifest};
    ///
    /// #[kernel]
    /// pub fn fill(x: PerThread<f32>, shared: SharedSlice<f32>) {
    ///     let shared = sync(shared);
    ///     for (i, x) in x {
    ///         *x = shared.get(i).copied().unwrap_or(0.0);
    ///     }
    /// }
    ///
    /// # let mut manifest = Manifest::new("doc");
    /// # manifest.no_code = Some("this is an example".to_owned());
    /// # // SAFETY: it holds no code.
    /// # let KERNELS = unsafe { Image::from_bytes(ImageWriter::new(manifest).finish()) };
    /// # let device = Device::cpu();
    /// let module = device.load(&KERNELS)?;
    /// for numbers in [256, 4096] {
    ///     let attributes = module.attributes_with_shared(fill, 256, numbers * size_of::<f32>())?;
    ///     assert!(attributes.is_none_or(|attributes| attributes.blocks_per_multiprocessor > 0));
    /// }
    /// # Ok::<(), gpukernel::Error>(())
    /// ```
    ///
    /// # Errors
    /// As there.
    #[doc(alias = "cudaOccupancyMaxActiveBlocksPerMultiprocessor")]
    pub fn attributes_with_shared<K: Kernel>(
        &self,
        _kernel: K,
        block_dim: impl Into<Extents>,
        shared_bytes: usize,
    ) -> Result<Option<KernelAttributes>> {
        let (threads, shared_bytes) =
            (block_dim.into().threads(), u32::try_from(shared_bytes).unwrap_or(u32::MAX));
        each!(self.code(), loaded => self.inner.attributes(&loaded.code, K::INFO, threads, shared_bytes))
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

    /// Launches a kernel on the device's default stream, or that of [`on`](Self::on).
    ///
    /// The configuration is [`for_each`](crate::for_each)`(n)` or a [`LaunchConfig::new`]`(grid_dim, block_dim)`; the arguments are a tuple with one for each
    /// parameter of the kernel. If no thread would run, nothing happens. The launch is queued: what goes wrong when it
    /// runs is reported by the next call that waits for the device. On the CPU device that is also [`Error::DivergentBarrier`],
    /// [`Error::DivergentWarp`] and [`Error::UnmetBarrier`], and with `GPUKERNEL_CHECK=1` [`Error::EndedBeforeBarrier`] and [`Error::Race`].
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
    /// image does not hold this kernel or is older than the program, or what the driver says; on the CPU device
    /// [`Error::NoThread`].
    #[track_caller]
    pub fn launch<K: SafeKernel>(
        &self,
        kernel: K,
        config: LaunchConfig,
        args: K::Args<'_, ThisRuntime>,
    ) -> Result<()> {
        // SAFETY: a safe kernel asks for nothing.
        unsafe { self.launch_on(self.stream.as_ref(), kernel, config, args) }
    }

    /// Launches a kernel that was declared as `unsafe fn`, as [`launch`](Self::launch) does.
    ///
    /// # Errors
    /// As [`launch`](Self::launch): nothing that is checked there is left out.
    ///
    /// # Safety
    /// What the kernel's function asks for in its own `# Safety` section; and the module's image was built from the crate that declares
    /// it, not from one that has a kernel of the same signature with another such section.
    #[track_caller]
    pub unsafe fn launch_unsafe<K: Kernel>(
        &self,
        kernel: K,
        config: LaunchConfig,
        args: K::Args<'_, ThisRuntime>,
    ) -> Result<()> {
        replay::refuse_unsafe(UNSAFE_KERNEL)?;
        // SAFETY: as the caller promises.
        unsafe { self.launch_on(self.stream.as_ref(), kernel, config, args) }
    }

    /// Launches a kernel on a stream or the default stream. Only this is compiled for each kernel; the rest is the same for all.
    ///
    /// # Safety
    /// As for [`launch_unsafe`](Self::launch_unsafe).
    #[track_caller]
    pub(crate) unsafe fn launch_on<K: Kernel>(
        &self,
        stream: Option<&Stream>,
        _kernel: K,
        config: LaunchConfig,
        args: K::Args<'_, ThisRuntime>,
    ) -> Result<()> {
        let mut packed = PackedArgs::of(K::INFO);
        K::pack::<ThisRuntime>(args, &mut packed);
        // SAFETY: as the caller promises; the arguments are packed by the kernel of the description.
        unsafe { self.inner.launch_packed(stream, TypeId::of::<K>(), K::INFO, &config, &packed) }
    }

    /// The code on a device, and the kernel in it that packed these arguments. `id` is that of its type.
    ///
    /// # Errors
    /// [`Error::WrongDevice`] if the module is loaded on another device, and as [`launch`](Self::launch) where the image has another kernel.
    pub(crate) fn entry<B: Backend>(
        &self,
        device: &'static B,
        id: TypeId,
        kernel: &KernelInfo,
        args: &PackedArgs,
    ) -> Result<(&Arc<LoadedImage<B>>, Entry<B>)> {
        let loaded = device.own(self.code()).ok_or_else(|| {
            let doing = || format!("a launch of `{}`", kernel.name);
            Stream::of_another(&Device::of(device), self.device(), &doing)
        })?;
        let entry = loaded.entry(&id, || self.inner.check(&loaded.code, kernel, args))?;
        Ok((loaded, *entry))
    }
}

/// Loads an image on a device.
fn load<B: Backend>(device: &'static B, code: &ImageCode<'_>) -> Result<Any<Modules>> {
    device.load(code).map(|code| B::wrap(Arc::new(Loaded::new(code))))
}

impl Inner {
    /// Checks a launch, and queues or runs it.
    ///
    /// # Safety
    /// As for [`Module::launch_unsafe`] of this kernel, which packed the arguments, from borrows that last as long as this call.
    /// `id` is that of its type.
    #[track_caller]
    unsafe fn launch_packed(
        &self,
        stream: Option<&Stream>,
        id: TypeId,
        kernel: &'static KernelInfo,
        config: &LaunchConfig,
        args: &PackedArgs,
    ) -> Result<()> {
        each!(&self.code, loaded => {
            // SAFETY: as the caller promises.
            unsafe { self.launch_loaded(loaded, stream, id, kernel, config, args) }
        })
    }

    /// # Safety
    /// As [`launch_packed`](Self::launch_packed).
    #[track_caller]
    unsafe fn launch_loaded<B: Backend>(
        &self,
        loaded: &LoadedImage<B>,
        stream: Option<&Stream>,
        id: TypeId,
        kernel: &'static KernelInfo,
        config: &LaunchConfig,
        args: &PackedArgs,
    ) -> Result<()> {
        let (code, device, at) = (&loaded.code, loaded.code.device(), Location::caller());
        let program = Program::Kernel(kernel, args);
        if let Some(stream) = stream {
            stream.not_captured("a launch of a module on a stream, except by `Stream::launch`,")?;
        }
        let stream = Stream::or_default(stream, device, &|| program.doing())?;
        let Entry { function, cooperative } = loaded.entry(&id, || self.check(code, kernel, args))?;
        let threads = code.threads(function);
        let request = Request { device, program: &program, config, threads, cooperative: *cooperative };
        // SAFETY: `check` found the parameters to be those of the code, and the shape keeps to the contract; that the kernel is sound is
        // the promise of `Kernel` and of the caller.
        let launch =
            |launch: &PreparedLaunch<'_, B>| unsafe { observed::launch(code, stream, function, launch, at) };
        // SAFETY: the arguments were packed by this kernel, from borrows that last as long as this call.
        unsafe { PreparedLaunch::check(&request, &mut Lists::new(), launch).map(drop) }
    }

    fn attributes<M: BackendModule>(
        &self,
        code: &M,
        kernel: &KernelInfo,
        block_threads: u32,
        dynamic_shared_bytes: u32,
    ) -> Result<Option<KernelAttributes>> {
        let function = code.function(self.symbol(kernel, None)?.symbol)?;
        let function = function.ok_or_else(|| self.no_such_kernel(kernel.name))?;
        code.attributes(&function, block_threads, dynamic_shared_bytes)
    }

    /// Compares the kernel with the image, at its first launch.
    #[cold]
    fn check<B: Backend>(
        &self,
        code: &B::Module,
        kernel: &KernelInfo,
        args: &PackedArgs,
    ) -> Result<Entry<B>> {
        let Symbol { symbol, cooperative } = self.symbol(kernel, Some(args))?;
        let function = code.function(symbol)?.ok_or_else(|| self.no_such_kernel(kernel.name))?;
        Ok(Entry { function, cooperative })
    }

    /// The kernel in the code, if it is the one that the program knows; with arguments, if they are packed as it takes them.
    fn symbol(&self, kernel: &KernelInfo, args: Option<&PackedArgs>) -> Result<Symbol<'_>> {
        let KernelInfo { name, signature, contract, .. } = kernel;
        // Builds without device code may have no list of kernels either.
        if self.manifest.no_code.is_some() {
            return Ok(Symbol { symbol: "", cooperative: false });
        }
        let kernel = self.manifest.kernel(name).ok_or_else(|| self.no_such_kernel(name))?;
        match difference(kernel, args, signature, contract) {
            Some(difference) => Err(Error::StaleImage { kernel: (*name).to_owned(), difference }),
            None => Ok(Symbol { symbol: &kernel.symbol, cooperative: kernel.cooperative }),
        }
    }

    fn no_such_kernel(&self, kernel: &str) -> Error {
        Error::NoSuchKernel {
            kernel: kernel.to_owned(),
            crate_name: self.manifest.crate_name.clone(),
            available: self.manifest.kernels.iter().map(|kernel| kernel.name.clone()).collect(),
        }
    }
}

/// A kernel in the code.
struct Symbol<'a> {
    symbol: &'a str,
    /// Whether its blocks wait for each other.
    cooperative: bool,
}

/// How the kernel in the image differs from the one in the program, if it does.
fn difference(
    image: &gpukernel_image::Kernel,
    args: Option<&PackedArgs>,
    signature: &Signature,
    contract: &Contract,
) -> Option<String> {
    let here = signature.to_string();
    signatures_differ(&image.signature, &here, &KERNEL_LINES)
        .or_else(|| layouts_differ(image, args?))
        .or_else(|| (image.contract != *contract).then(|| "it has another launch contract".to_owned()))
}

/// How the parameters in the image differ from packed arguments. Of equal types, that is; but these are what the driver is given.
fn layouts_differ(image: &gpukernel_image::Kernel, args: &PackedArgs) -> Option<String> {
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
    None
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

impl fmt::Debug for Module {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Module")
            .field("crate_name", &self.inner.manifest.crate_name)
            .field("device", &self.inner.device)
            .finish_non_exhaustive()
    }
}
