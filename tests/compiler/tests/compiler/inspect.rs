//! Kernels looked at line by line.

use gpukernel_build::{
    AccessCost, AccessKind, Arch, BuildInput, CodeLine, Emit, Error, Inspection, MemorySpace, Options,
    inspect,
};
use gpukernel_tests::{KernelCrate, device_target_dir, function, toolchain};

const SOURCE: &str = "
    #[inline(always)]
    fn weigh(x: f32) -> f32 {
        x * 3.0 + 1.0
    }

    #[kernel(block = 256)]
    pub fn scale(x: &[f32], y: PerThread<f32>) {
        for (i, y) in y {
            *y = weigh(x[i]);
        }
    }

    #[kernel(block = 32)]
    pub fn gather(x: &[f32], y: PerThread<f32>, mut shared: Shared<f32, 1024>) {
        let lane = thread_index().x as usize;
        for (i, element) in &mut shared {
            *element = x[i * 33];
        }
        let column = sync(shared);
        for (_, y) in y {
            *y = column[lane * 32];
        }
    }

    #[kernel]
    pub fn table(at: &[u32], y: PerThread<u32>) {
        for (i, y) in y {
            let mut table = [i as u32; 300];
            for at in at { table[*at as usize % 300] += 1; }
            *y = table[i % 300];
        }
    }

    #[kernel]
    pub fn look_up(weights: [f32; 9], at: &[u32], y: PerThread<f32>) {
        for (i, y) in y {
            *y = weights[at[i] as usize % 9];
        }
    }";

fn look(kernels: &KernelCrate, kernel: &str) -> Result<Inspection, Error> {
    let arch = Arch::new(9, 0);
    let input = BuildInput {
        crate_path: kernels.dir().to_owned(),
        target_dir: device_target_dir(),
        out_dir: kernels.dir().join("out"),
        options: Options { archs: vec![arch], ..Options::default() },
    };
    inspect(&input, &toolchain(), kernel, arch)
}

/// The instructions that come from a line, by whatever was inlined there.
fn of_line<'a>(inspection: &'a Inspection, lines: &'a [CodeLine], wanted: u32) -> Vec<&'a CodeLine> {
    let is_of = |line: &&CodeLine| {
        let places = line.place.into_iter().flat_map(|place| &inspection.places[place]);
        let mut own = places.filter(|place| inspection.files[place.file].is_own);
        own.any(|place| place.line == wanted)
    };
    lines.iter().filter(is_of).collect()
}

fn has(lines: &[&CodeLine], part: &str) -> bool {
    lines.iter().any(|line| line.text.contains(part))
}

#[test]
fn lines_have_their_instructions_through_inlining() {
    let kernels = KernelCrate::written("inspected", SOURCE);
    let scale = look(&kernels, "inspected::scale").unwrap();
    assert_eq!(scale.declared_at.as_ref().map(ToString::to_string).as_deref(), Some("src/lib.rs:10"));
    assert_eq!((scale.panics.len(), scale.counts.f64), (1, 0));
    let own = scale.files.iter().find(|file| file.is_own).unwrap();
    assert_eq!(own.path, "src/lib.rs");
    assert!(own.text.as_ref().unwrap().contains("fn weigh"));
    // The line of the function, and the line that it is called in.
    for line in [6, 12] {
        for (code, part) in [(&scale.llvm_ir, "fmul"), (&scale.ptx, "fma.rn.f32"), (&scale.sass, "FFMA")] {
            assert!(has(&of_line(&scale, code, line), part), "no {part} of line {line} in {code:#?}");
        }
    }
    assert!(!has(&of_line(&scale, &scale.sass, 6), "LDG"));
    assert!(has(&of_line(&scale, &scale.sass, 12), "LDG"));
    assert!(scale.sass.iter().filter(|line| !line.is_label).all(|line| line.live_registers.is_some()));

    let load = scale.ptx.iter().find(|line| line.text.starts_with("ld.global.nc")).unwrap();
    let access = load.access.as_ref().unwrap();
    assert_eq!((access.space, access.kind, access.bytes), (MemorySpace::Global, AccessKind::Load, 4));
    assert_eq!((access.stride, access.cost), (Some(4), Some(AccessCost::Sectors { moved: 4, needed: 4 })));
}

#[test]
fn accesses_that_take_more_than_they_have_to_are_found() {
    let kernels = KernelCrate::written("inspected_accesses", SOURCE);
    let gather = look(&kernels, "inspected_accesses::gather").unwrap();
    let costs = |space| {
        let accesses = gather.sass.iter().filter_map(|line| line.access.as_ref());
        accesses.filter(|access| access.space == space).filter_map(|access| access.cost).collect::<Vec<_>>()
    };
    assert!(
        costs(MemorySpace::Global).contains(&AccessCost::Sectors { moved: 32, needed: 4 }),
        "{:#?}",
        gather.ptx
    );
    assert!(costs(MemorySpace::Shared).contains(&AccessCost::Banks { ways: 32 }), "{:#?}", gather.ptx);
    let table = look(&kernels, "inspected_accesses::table").unwrap();
    let local = of_line(&table, &table.sass, 32);
    let is_local = |line: &&&CodeLine| line.access.as_ref().is_some_and(|it| it.space == MemorySpace::Local);
    assert!(local.iter().any(|line| is_local(&line) && line.in_a_loop), "{local:#?}");
    assert_eq!(table.resources.unwrap().stack_bytes, 1200);
}

/// Otherwise other code would be shown than runs. Arguments by value were copied to local memory where LLVM IR was asked for, too.
#[test]
fn the_code_is_that_of_a_build() {
    let kernels = KernelCrate::written("inspected_as_built", SOURCE);
    let shown = ["scale", "look_up"]
        .map(|name| (name, look(&kernels, &format!("inspected_as_built::{name}")).unwrap()));
    let options = Options { archs: vec![Arch::new(9, 0)], emit: vec![Emit::Sass], ..Options::default() };
    let built = kernels.inspect(options);
    let sass = built.sass("sm_90");
    for (name, shown) in shown {
        // Where the places of panics are is another matter in a build, which has all kernels; `scale` has none.
        let is_place = |word: &str| name == "look_up" && word.starts_with("c[0x4]");
        let plain = |text: &str| {
            let words = text.split_whitespace().filter(|word| !word.starts_with("`(.L"));
            words.map(|word| if is_place(word) { "c[0x4]" } else { word }).collect::<Vec<_>>().join(" ")
        };
        let instructions = function(&sass, name).lines().filter_map(|line| {
            let (_, code) = line.trim().strip_prefix("/*")?.split_once("*/")?;
            Some(plain(code.split(';').next()?))
        });
        let expected: Vec<_> = instructions.filter(|code| !code.starts_with("NOP")).collect();
        let found: Vec<_> =
            shown.sass.iter().filter(|line| !line.is_label).map(|line| plain(&line.text)).collect();
        assert_eq!(found, expected, "{name}");
    }
}

#[test]
fn a_kernel_that_is_not_there_is_an_error_that_lists_those_that_are() {
    let kernels = KernelCrate::written("inspected_elsewhere", SOURCE);
    let error = look(&kernels, "inspected_elsewhere::none").unwrap_err().to_string();
    assert!(
        error.starts_with(
            "there is no kernel `inspected_elsewhere::none`: the kernels are inspected_elsewhere::gather, "
        ),
        "{error}"
    );
}
