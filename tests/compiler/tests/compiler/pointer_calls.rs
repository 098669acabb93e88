//! Calls of functions by pointers: the linker does not see which function it is, and must not take the kernels that mention a function
//! for all that call it.

use gpukernel_build::{Arch, Options};
use gpukernel_tests::{Inspected, KernelCrate, Shape};

/// A static that is written once, as `once_cell::race::OnceRef` is.
const CELL: &str = "
    use core::{ptr, sync::atomic::{AtomicPtr, Ordering}};

    pub struct OnceRef<T: 'static>(AtomicPtr<T>);

    impl<T: 'static> OnceRef<T> {
        pub const fn new() -> Self { Self(AtomicPtr::new(ptr::null_mut())) }
        pub fn set(&self, value: &'static T) { self.0.store(ptr::from_ref(value).cast_mut(), Ordering::Release); }
        // SAFETY: it is null or was a reference that lives as long as the program.
        pub fn get(&self) -> Option<&'static T> { unsafe { self.0.load(Ordering::Acquire).as_ref() } }
    }
";

/// A function behind a pointer, and one behind a table of methods, as `(declarations, name of the type, how `f` is called)`. Each looks its
/// argument up by `body`.
fn ways(parameters: &str, body: &str) -> [(&'static str, String, String); 2] {
    [
        (
            "function",
            format!(
                "type Target = fn({parameters});
                static TARGET: Target = target;
                fn target({parameters}) {{ {body} }}"
            ),
            "f".into(),
        ),
        (
            "object",
            format!(
                "trait Call: Sync {{ fn call(&self, {parameters}); }}
                struct Called;
                impl Call for Called {{ fn call(&self, {parameters}) {{ {body} }} }}
                type Target = &'static dyn Call;
                static TARGET: Target = &Called;"
            ),
            "f.call".into(),
        ),
    ]
}

fn built(name: &str, lib: &str) -> Inspected {
    let options = Options { archs: vec![Arch::new(9, 0)], ..Options::default() };
    KernelCrate::written(name, &format!("{CELL}{lib}")).inspect(options)
}

/// The function, other than a kernel, that has this in its name.
fn defined<'a>(ptx: &'a str, name: &str) -> &'a str {
    let functions = ptx.split("\n.func ").skip(1).filter_map(|function| {
        let head = function.find(['{', ';'])?;
        (function[head..].starts_with('{') && function[..head].contains(name)).then_some(function)
    });
    let all: Vec<_> = functions.collect();
    assert_eq!(all.len(), 1, "{name} in {ptx}");
    all[0].split("\n}\n").next().unwrap_or_default()
}

/// The first kernel has small blocks and stores the function, the second has blocks of any size and calls it.
#[test]
fn a_function_in_a_static_is_called_in_blocks_of_other_sizes_than_that_which_stores_it() {
    let body = "out.store(table[thread_index().x as usize]);";
    for (way, target, call) in ways("table: &[u32; 32], out: &Atomic<u32>", body) {
        let lib = format!(
            "{target}
            static STORED: OnceRef<Target> = OnceRef::new();

            #[kernel(block = 32)]
            pub fn store(out: &[Atomic<u32>]) {{
                STORED.set(&TARGET);
                if let Some(f) = STORED.get() {{ {call}(&[1; 32], &out[0]) }}
            }}

            #[kernel]
            pub fn load(tables: &[[u32; 32]], out: &[Atomic<u32>]) {{
                if let Some(f) = STORED.get() {{ {call}(&tables[0], &out[0]) }}
            }}"
        );
        let built = built(&format!("ranges_of_a_stored_{way}"), &lib);
        let ptx = built.ptx("sm_90");
        Shape { text: defined(&ptx, if way == "function" { "6target" } else { "4call" }) }
            .has("%tid.x")
            .has("setp.")
            .has("__gpukernel_panic_record");
        // The kernel says which one it is, for the message of the panic.
        Shape { text: &built.kernel("sm_90", "load") }.has("st.volatile.shared");
    }
}

#[test]
fn kernels_that_call_the_barrier_of_the_grid_by_a_pointer_in_a_static_are_cooperative() {
    for (way, target, call) in ways("", "sync_grid();") {
        let lib = format!(
            "{target}
            static STORED: OnceRef<Target> = OnceRef::new();

            #[kernel]
            pub fn store(out: PerThread<u32>) {{
                STORED.set(&TARGET);
                for (_, out) in out {{ *out = 1; }}
            }}

            #[kernel]
            pub fn load(out: PerThread<u32>) {{
                if let Some(f) = STORED.get() {{ {call}() }}
                for (_, out) in out {{ *out = 2; }}
            }}

            #[kernel]
            pub fn neither(out: PerThread<u32>) {{ for (_, out) in out {{ *out = 3; }} }}"
        );
        let built = built(&format!("barrier_of_a_stored_{way}"), &lib);
        let is_cooperative = |symbol: &str| {
            let kernels = &built.built.manifest.kernels;
            kernels.iter().find(|kernel| kernel.symbol == symbol).expect("it was built").cooperative
        };
        assert!(is_cooperative("load"), "{way}");
        assert!(!is_cooperative("neither"), "{way}");
    }
}

/// Kernels without calls of pointers lose nothing by functions that others store.
#[test]
fn who_calls_no_pointer_keeps_the_range_of_its_index() {
    let lib = "
        static STORED: OnceRef<fn(&[u32; 32]) -> u32> = OnceRef::new();
        static ELEMENT: fn(&[u32; 32]) -> u32 = element;
        fn element(table: &[u32; 32]) -> u32 { table[thread_index().x as usize] }

        #[inline(never)]
        fn direct(table: &[u32; 32]) -> u32 { table[31 - thread_index().x as usize] }

        #[kernel(block = 32)]
        pub fn store(tables: &[[u32; 32]], out: PerThread<u32>) {
            STORED.set(&ELEMENT);
            let Some(table) = tables.first() else { return };
            for (_, out) in out { *out = direct(table); }
        }

        #[kernel]
        pub fn load(tables: &[[u32; 32]], out: PerThread<u32>) {
            let (Some(table), Some(f)) = (tables.first(), STORED.get()) else { return };
            for (_, out) in out { *out = f(table); }
        }";
    let built = built("range_of_the_direct", lib);
    let ptx = built.ptx("sm_90");
    Shape { text: defined(&ptx, "6direct") }.lacks("setp.");
    Shape { text: defined(&ptx, "7element") }.has("setp.");
}
