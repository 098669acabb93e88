//! Workspaces with several kernel crates, one of which depends on another, and several programs, as users run the commands there.

use crate::common::{Folder, repository, share_builds};

/// A device function, a kernel, a generic kernel with an instance, and a test.
const SHAPES: &str = "#![no_std]
use gpu_std::prelude::*;

pub fn area(width: f32, height: f32) -> f32 {
    width * height
}

#[kernel]
pub fn scale(factor: f32, y: PerThread<f32>) {
    for (_, y) in y {
        *y *= factor;
    }
}

pub trait Operation {
    fn apply(x: f32) -> f32;
}

pub struct Twice;

impl Operation for Twice {
    fn apply(x: f32) -> f32 {
        2.0 * x
    }
}

#[kernel]
pub fn map<F: Operation>(y: PerThread<f32>) {
    for (_, y) in y {
        *y = F::apply(*y);
    }
}

gpu_std::instantiate!(map::<Twice>);

#[test]
fn areas() {
    assert_eq!(area(2.0, 3.0), 6.0);
}
";

/// A kernel of the same name that calls the device function, and an instance of the generic kernel.
const FIELDS: &str = "#![no_std]
use gpu_std::prelude::*;

#[kernel]
pub fn scale(factor: f32, y: PerThread<f32>) {
    for (_, y) in y {
        *y = family_shapes::area(*y, factor) + 1.0;
    }
}

pub struct Thrice;

impl family_shapes::Operation for Thrice {
    fn apply(x: f32) -> f32 {
        3.0 * x
    }
}

gpu_std::instantiate!(pub fn map_thrice = family_shapes::map::<Thrice>);
";

/// Launches on the CPU, as the tests say; with `{LAUNCHES}` in place of the launches.
const PROGRAM: &str = "use gpukernel::{Device, Image, for_each};
{IMAGES}
fn main() -> gpukernel::Result<()> {
    let device = Device::best()?;
    let mut y = device.upload(&[1.0_f32, 2.0])?;
    {LAUNCHES}
    println!(\"{:?}\", y.to_vec()?);
    Ok(())
}

#[test]
fn runs() {
    main().unwrap();
}
";

fn program(images: &str, launches: &str) -> String {
    PROGRAM.replace("{IMAGES}", images).replace("{LAUNCHES}", launches)
}

/// Two kernel crates, `family-fields` on top of `family-shapes`, and two programs: `family-one` uses one, `family-two` both.
fn workspace() -> Folder {
    let repository = repository().canonicalize().expect("the repository is there");
    let package = |name: &str, dependencies: &[&str]| {
        let part = |name: &str| match name {
            "gpukernel-std" => format!("gpukernel-std = {{ path = {:?} }}\n", repository.join("gpu-std")),
            "gpukernel" => format!("gpukernel = {{ path = {:?} }}\n", repository.join("runtime")),
            other => format!("family-{other} = {{ path = \"../{other}\" }}\n"),
        };
        let build = match dependencies.contains(&"gpukernel") {
            true => format!(
                "[build-dependencies]\ngpukernel-build = {{ path = {:?} }}\n",
                repository.join("compiler")
            ),
            false => String::new(),
        };
        let dependencies: String = dependencies.iter().map(|name| part(name)).collect();
        format!(
            "[package]\nname = \"family-{name}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n[dependencies]\n{dependencies}{build}"
        )
    };
    let script = |crates: &[&str]| {
        let calls: String = crates
            .iter()
            .map(|name| format!("    gpukernel_build::Builder::new(\"../{name}\").build()?;\n"))
            .collect();
        format!("fn main() -> Result<(), gpukernel_build::Error> {{\n{calls}    Ok(())\n}}\n")
    };
    let shapes_image = "static SHAPES: Image = gpukernel::image!(\"shapes\");";
    let one = program(
        shapes_image,
        "device.load(&SHAPES)?.launch(family_shapes::scale, for_each(2), (3.0, &mut y))?;",
    );
    let two = program(
        &format!("{shapes_image}\nstatic FIELDS: Image = gpukernel::image!(\"fields\");"),
        "let (shapes, fields) = (device.load(&SHAPES)?, device.load(&FIELDS)?);
    shapes.launch(family_shapes::scale, for_each(2), (3.0, &mut y))?;
    fields.launch(family_fields::scale, for_each(2), (2.0, &mut y))?;
    shapes.launch(family_shapes::map::<family_shapes::Twice>, for_each(2), (&mut y,))?;
    fields.launch(family_fields::map_thrice, for_each(2), (&mut y,))?;
    // The image of a crate has the kernels of those that it depends on.
    fields.launch(family_shapes::scale, for_each(2), (10.0, &mut y))?;",
    );
    let root = "[workspace]\nresolver = \"3\"\nmembers = [\"one\", \"two\", \"shapes\", \"fields\"]\n\n[profile.dev.package]\n\
                gpukernel = { opt-level = 3 }\ngpukernel-std = { opt-level = 3 }\n";
    let folder = Folder::with(&[
        ("Cargo.toml", root),
        ("shapes/Cargo.toml", &package("shapes", &["gpukernel-std"])),
        ("shapes/src/lib.rs", SHAPES),
        ("fields/Cargo.toml", &package("fields", &["gpukernel-std", "shapes"])),
        ("fields/src/lib.rs", FIELDS),
        ("one/Cargo.toml", &package("one", &["gpukernel", "shapes"])),
        ("one/build.rs", &script(&["shapes"])),
        ("one/src/main.rs", &one),
        ("two/Cargo.toml", &package("two", &["gpukernel", "shapes", "fields"])),
        ("two/build.rs", &script(&["shapes", "fields"])),
        ("two/src/main.rs", &two),
    ]);
    folder.lock("");
    folder
}

/// One test, because packages of one name in different folders would share what is built of them.
#[test]
fn several_kernel_crates_and_programs() {
    let folder = workspace();
    are_built_together_or_for_a_program(&folder);
    are_inspected_each_in_its_own_crate(&folder);
    run_and_are_tested(&folder);
}

fn are_built_together_or_for_a_program(folder: &Folder) {
    let build = |below: &str, words: &[&str]| {
        folder.built(below, &[&["build", "--arch", "sm_90"], words].concat()).succeeded().stdout
    };
    let crates = |stdout: &str| -> Vec<String> {
        stdout.lines().filter(|line| line.starts_with("family-")).map(str::to_owned).collect()
    };
    let all = build("", &[]);
    assert_eq!(crates(&all), ["family-fields", "family-shapes"]);
    // In the table of a crate, those of another one have its name.
    let names: Vec<_> = all
        .lines()
        .filter(|line| line.contains(" sm_90 "))
        .filter_map(|line| line.split(' ').next())
        .collect();
    assert_eq!(
        names,
        ["map_thrice", "scale", "…map<Twice>", "family_shapes::scale", "map<Twice>", "scale"],
        "{all}"
    );
    assert_eq!(crates(&build("two/src", &["-p", "family-one"])), ["family-shapes"]);
    assert_eq!(crates(&build("", &["-p", "family-two"])), ["family-fields", "family-shapes"]);
}

fn are_inspected_each_in_its_own_crate(folder: &Folder) {
    let inspect = |words: &[&str]| folder.built("", &[&["inspect", "--arch", "sm_90"], words].concat());
    let listed = inspect(&[]).succeeded().stdout;
    let names: Vec<_> = listed.lines().skip(1).filter_map(|line| line.split_whitespace().next()).collect();
    assert_eq!(
        names,
        [
            "family_fields::map_thrice",
            "family_fields::scale",
            "family_shapes::map<Twice>",
            "family_shapes::scale"
        ]
    );
    inspect(&["scale"])
        .failed_with("`scale` may be one of 2 kernels: family_fields::scale, family_shapes::scale");
    let said = inspect(&["family_shapes::scale", "--view", "ptx"]).succeeded().stdout;
    assert!(said.starts_with("family_shapes::scale for sm_90 (shapes/src/lib.rs:9)\n"), "{said}");
    let said = inspect(&["thrice", "-p", "family-two", "--view", "ptx"]).succeeded().stdout;
    assert!(said.starts_with("family_fields::map_thrice for sm_90 "), "{said}");
}

fn run_and_are_tested(folder: &Folder) {
    let run = |words: &[&str]| folder.built("", &[&["run", "--quiet"], words].concat()).succeeded().stdout;
    assert_eq!(run(&["-p", "family-one"]), "[3.0, 6.0]\n");
    // ((1 · 3) · 2 + 1) · 2 · 3 · 10, and the same of 2.
    assert_eq!(run(&["--bin", "family-two"]), "[420.0, 780.0]\n");
    let said = folder.built("", &["test", "--workspace"]).succeeded();
    // By cargo-nextest on standard error, else by cargo.
    let said = said.stdout + &said.stderr;
    assert!(said.contains("areas") && said.contains("runs"), "{said}");
}

/// Each question takes as long as the rest of a build with nothing to do, and one for each part of gpukernel made up half of its time.
#[test]
fn cargo_is_asked_once_for_each_workspace() {
    let folder = Folder::project(
        "asked-once",
        "#[kernel]\npub fn clear(y: PerThread<f32>) { for (_, y) in y { *y = 0.0; } }",
        "fn main() {}\n",
    );
    let cargo = std::env::var("CARGO").unwrap();
    let log = folder.path.join("log");
    let script = format!("echo \"$1\" >> '{}'\nexec '{cargo}' \"$@\"\n", log.display());
    let tools = folder.tool("cargo", &script);
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_cargo-gpukernel"));
    command.args(["gpukernel", "build", "--arch", "sm_90"]).current_dir(&folder.path);
    let output = share_builds(&mut command).env("CARGO", tools.join("cargo")).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let asked = folder.read("log");
    // The project, and the checkout of gpukernel.
    assert_eq!(asked.lines().filter(|line| *line == "metadata").count(), 2, "{asked}");
    assert_eq!(asked.lines().filter(|line| *line == "build").count(), 1, "{asked}");
}
