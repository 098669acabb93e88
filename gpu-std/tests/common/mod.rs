//! The least that runs kernels: a runtime whose device memory is vectors, and an executor that runs the threads of a grid one
//! after another, or those of a block with barriers as threads of the operating system.

#![allow(unreachable_pub, clippy::unwrap_used)]

use std::{
    alloc::{alloc, dealloc, handle_alloc_error},
    panic::{self, Location},
    ptr::NonNull,
    sync::atomic::AtomicPtr,
    sync::{Barrier, Mutex},
    thread,
};

use gpu_std::{
    DeviceCopy, Dim3,
    host::{
        self, BlockOps, ClusterContext, Kernel, Meeting, Met, PackedArgs, RawSlice, RawView, Runtime,
        ThreadContext, Threads, Votes, set_current,
    },
    view::layout::{self, ViewLayout},
};

/// Device memory.
#[derive(Debug)]
pub struct Memory<T>(pub Vec<T>);

impl<T> Memory<T> {
    pub fn view_2d_mut(&mut self, columns: usize) -> (&mut Self, layout::Layout2d) {
        assert_eq!(self.0.len() % columns.max(1), 0);
        let rows = self.0.len().checked_div(columns).unwrap_or(0) as u32;
        let columns = columns as u32;
        (self, layout::Layout2d { rows, columns, pitch: columns })
    }
}

/// The runtime of these tests.
pub enum Vectors {}

impl Runtime for Vectors {
    type Slice<T: DeviceCopy> = Memory<T>;
    type View<'a, T: DeviceCopy, S: ViewLayout> = (&'a Memory<T>, S);
    type ViewMut<'a, T: DeviceCopy, S: ViewLayout> = (&'a mut Memory<T>, S);

    fn raw_slice<T: DeviceCopy>(slice: &Memory<T>) -> RawSlice {
        RawSlice {
            address: slice.0.as_ptr().cast_mut().cast(),
            len: slice.0.len(),
            element_bytes: size_of::<T>(),
            allocation: 0,
        }
    }

    fn raw_view<T: DeviceCopy, S: ViewLayout>((memory, layout): &(&Memory<T>, S)) -> RawView<S> {
        RawView { slice: Self::raw_slice(memory), layout: *layout }
    }

    fn raw_view_mut<T: DeviceCopy, S: ViewLayout>((memory, layout): &(&mut Memory<T>, S)) -> RawView<S> {
        RawView { slice: Self::raw_slice(memory), layout: *layout }
    }
}

/// A block whose barrier is this function, and which has no warps.
pub struct BarrierOnly<F>(pub F);

// SAFETY: tests call it where one thread is all there is, or wait in the function that they give.
unsafe impl<F: Fn()> BlockOps for BarrierOnly<F> {
    fn barrier(&self, _: host::Barrier, _: bool) -> Votes {
        self.0();
        Votes::default()
    }

    fn cluster_barrier(&self, _: host::Barrier) {
        self.0();
    }

    fn grid_barrier(&self, _: &'static Location<'static>) {
        panic!("this executor runs one block at a time");
    }

    fn meet(&self, _: Meeting, _: &[u8], _: &mut dyn FnMut(&Met<'_>)) {
        panic!("this executor has no warps");
    }

    fn converge(&self, _: &'static Location<'static>) -> u32 {
        panic!("this executor has no warps");
    }

    fn gathering(&self) -> &AtomicPtr<()> {
        panic!("this executor has no room for algorithms of a block");
    }
}

/// Runs all threads of a grid, one after another. For kernels without barriers.
pub fn launch<K: Kernel>(
    kernel: K,
    grid: impl Into<Dim3>,
    block: impl Into<Dim3>,
    args: K::Args<'_, Vectors>,
) {
    let no_barrier = BarrierOnly(|| panic!("this kernel has a barrier: run it with `launch_blocks`"));
    launch_with(kernel, &no_barrier, grid.into(), block.into(), args);
}

/// Runs all threads of a grid, one after another, with barriers that do as `ops` does.
pub fn launch_with<K: Kernel>(_: K, ops: &dyn BlockOps, grid: Dim3, block: Dim3, args: K::Args<'_, Vectors>) {
    let mut packed = gpu_std::host::PackedArgs::of(K::INFO);
    K::pack::<Vectors>(args, &mut packed);
    let args = packed;
    for block_index in positions(grid) {
        let shared = Storage::new(&args);
        for thread_index in positions(block) {
            let context = ThreadContext {
                thread_index,
                block_index,
                block_dim: block,
                grid_dim: grid,
                shared: shared.start,
                cluster: ClusterContext { dim: Dim3::new(1, 1, 1), shared: &[shared.start] },
                block: ops,
                has_waited: false,
            };
            run::<K>(&context, &args);
        }
    }
}

/// Runs the blocks of a grid one after another, and their threads at once.
pub fn launch_blocks<K: Kernel>(
    _: K,
    grid: impl Into<Dim3>,
    block: impl Into<Dim3>,
    args: K::Args<'_, Vectors>,
) {
    /// Carries addresses to the threads.
    struct Lent<T>(T);
    // SAFETY: what the addresses point to outlives the threads, which use it as kernels do.
    unsafe impl<T> Sync for Lent<T> {}

    let (grid, block) = (grid.into(), block.into());
    let mut packed = gpu_std::host::PackedArgs::of(K::INFO);
    K::pack::<Vectors>(args, &mut packed);
    let args = packed;
    for block_index in positions(grid) {
        let shared = Storage::new(&args);
        let threads = usize::try_from(block.count()).unwrap();
        let barrier = Barrier::new(threads);
        let wait = BarrierOnly(|| {
            barrier.wait();
        });
        let lent = &Lent((shared.start, &args));
        thread::scope(|scope| {
            for thread_index in positions(block) {
                let wait = &wait;
                scope.spawn(move || {
                    let (shared, args) = lent.0;
                    let context = ThreadContext {
                        thread_index,
                        block_index,
                        block_dim: block,
                        grid_dim: grid,
                        shared,
                        cluster: ClusterContext { dim: Dim3::new(1, 1, 1), shared: &[shared] },
                        block: wait,
                        has_waited: false,
                    };
                    run::<K>(&context, args);
                });
            }
        });
    }
}

fn run<K: Kernel>(context: &ThreadContext<'_>, args: &PackedArgs) {
    // SAFETY: the context outlives the call; the launches above keep the promises.
    unsafe {
        let mut context = *context;
        let context = NonNull::from_mut(&mut context);
        let before = set_current(context.as_ptr());
        // Other threads are started by the launches above.
        (K::INFO.run_threads)(args, &Threads::one(context));
        set_current(before);
    }
}

/// All positions of extents, x fastest.
pub fn positions(dim: Dim3) -> impl Iterator<Item = Dim3> {
    (0..dim.z).flat_map(move |z| (0..dim.y).flat_map(move |y| (0..dim.x).map(move |x| Dim3::new(x, y, z))))
}

/// The shared arrays of a block, filled with arbitrary bytes.
struct Storage {
    start: *mut u8,
    layout: std::alloc::Layout,
}

impl Storage {
    fn new(args: &PackedArgs) -> Self {
        let layout = args.shared_on_host().unwrap();
        if layout.size() == 0 {
            return Self { start: std::ptr::without_provenance_mut(layout.align()), layout };
        }
        // SAFETY: the layout has a size.
        let start = unsafe { alloc(layout) };
        if start.is_null() {
            handle_alloc_error(layout);
        }
        // SAFETY: it has that many bytes.
        unsafe { start.write_bytes(0xa5, layout.size()) };
        Self { start, layout }
    }
}

impl Drop for Storage {
    fn drop(&mut self) {
        if self.layout.size() > 0 {
            // SAFETY: allocated with this layout.
            unsafe { dealloc(self.start, self.layout) };
        }
    }
}

/// Numbers that look random, the same in every run.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// A number below `end` (SplitMix64).
    pub fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((z ^ (z >> 31)) % end as u64).unwrap()
    }

    /// Extents up to `end` - 1, of which most are small.
    pub fn dim(&mut self, end: usize) -> Dim3 {
        let mut extent = |end: usize| 1 + self.below(end - 1) as u32;
        Dim3::new(extent(end), extent(end), extent(3))
    }
}

/// What a launch panics with.
pub fn panic_message(launch: impl FnOnce() + panic::UnwindSafe) -> String {
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    let guard = ONE_AT_A_TIME.lock();
    let hook = panic::take_hook();
    panic::set_hook(Box::new(|_| {}));
    let payload = panic::catch_unwind(launch).unwrap_err();
    panic::set_hook(hook);
    drop(guard);
    payload
        .downcast_ref::<String>()
        .cloned()
        .or_else(|| payload.downcast_ref::<&str>().map(|text| (*text).to_owned()))
        .unwrap()
}
