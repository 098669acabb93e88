//! Ctrl-C at many points of commands that write files: each file is as it was before, or complete, and nothing else lies beside it.
//!
//! When a signal arrives is up to the machine. What is checked holds whenever it does.

use std::{
    collections::BTreeMap,
    fs,
    os::unix::process::{CommandExt, ExitStatusExt},
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::mpsc,
    thread,
    time::Duration,
};

use crate::common::{Folder, gpukernel, repository, share_builds};
use gpukernel_tests::KernelCrate;

/// How often each command is interrupted, at points spread over all of its time.
const ROUNDS: usize = 4;

/// All files below a folder with their content. Folders are none.
fn files(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(folder).into_iter().flatten() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => found.extend(files(&path)),
            false => {
                found.insert(path.clone(), fs::read(&path).unwrap());
            }
        }
    }
    found
}

/// When a command is interrupted.
#[derive(Clone, Copy, Debug)]
enum Point {
    /// When the folder was looked at so many times.
    Look(usize),
    /// When what is in the folder has changed so many times.
    Change(usize),
    Never,
}

/// Runs a command and interrupts it and what it starts, as a terminal does. Returns how often the folder was looked at meanwhile.
fn run(mut command: Command, folder: &Path, point: Point) -> usize {
    command.arg("--quiet").stdout(Stdio::null()).stderr(Stdio::null()).process_group(0);
    let mut child = command.spawn().unwrap();
    let names = || -> Vec<_> {
        fs::read_dir(folder).into_iter().flatten().map(|entry| entry.unwrap().file_name()).collect()
    };
    let (mut looks, mut changes, mut last, mut is_sent) = (0, 0, names(), false);
    let (id, (done, ended)) = (child.id(), mpsc::channel());
    let waiting = thread::spawn(move || {
        let status = child.wait().unwrap();
        // Nobody listens if the other thread has panicked.
        let _ = done.send(status);
    });
    let status = loop {
        // A look at each millisecond, not all the time: the command needs the processor.
        if let Ok(status) = ended.recv_timeout(Duration::from_millis(1)) {
            break status;
        }
        looks += 1;
        let now = names();
        changes += usize::from(now != last);
        last = now;
        let is_due = match point {
            Point::Look(count) => looks >= count,
            Point::Change(count) => changes >= count,
            Point::Never => false,
        };
        if is_due && !is_sent {
            is_sent = true;
            let script = format!("kill -INT -{id}");
            // It may have ended just now.
            let _ = Command::new("sh").args(["-c", &script]).stderr(Stdio::null()).status().unwrap();
        }
    };
    waiting.join().unwrap();
    let was_interrupted = status.signal() == Some(2) || status.code() == Some(130);
    // What runs for the command may end by itself first, and the command fails with it; or the command was done.
    assert!(was_interrupted || is_sent || status.success(), "{command:?}: {status}");
    looks
}

/// Interrupts a command that writes to a folder in place of what `prepare` puts there.
fn interrupt(folder: &Path, prepare: impl Fn(), command: impl Fn() -> Command) {
    prepare();
    let before = files(folder);
    let looks = run(command(), folder, Point::Never);
    let after = files(folder);
    assert_ne!(before, after, "the command writes nothing");
    let spread = (0..ROUNDS).map(|round| Point::Look(looks * round / ROUNDS));
    for point in spread.chain((1..3).map(Point::Change)) {
        prepare();
        run(command(), folder, point);
        for (path, content) in files(folder) {
            let is_whole = [&before, &after].iter().any(|files| files.get(&path) == Some(&content));
            assert!(is_whole, "{point:?}: {} is half written, or should not be there", path.display());
        }
        for path in before.keys().filter(|path| after.contains_key(*path)) {
            assert!(path.is_file(), "{point:?}: {} is gone", path.display());
        }
    }
}

#[test]
fn man_pages() {
    let folder = Folder::with(&[("man1/cargo-gpukernel.1", "old"), ("man1/of-others.1", "theirs")]);
    let old = || folder.write("man1/cargo-gpukernel.1", "old");
    interrupt(&folder.path.join("man1"), old, || gpukernel(&folder.path, &["man", "-o", "man1"]));
}

#[test]
fn bindings() {
    let folder =
        Folder::with(&[("out/bindings.rs", "old"), ("a.h", "extern \"C\" __device__ float f(float x);\n")]);
    let old = || folder.write("out/bindings.rs", "old");
    interrupt(&folder.path.join("out"), old, || {
        gpukernel(&folder.path, &["bind", "a.h", "-o", "out/bindings.rs"])
    });
}

#[test]
fn images_and_pages() {
    let kernels = KernelCrate::written(
        "interrupted",
        "#[kernel]\npub fn scale(y: PerThread<f32>) { for (_, y) in y { *y *= 2.0; } }",
    );
    let dir = kernels.dir();
    let images = dir.join("target/gpukernel/images/interrupted");
    // Nothing is compiled by cargo again, but all the rest is done again.
    let forget = || {
        for file in files(&images).keys() {
            fs::remove_file(file).unwrap();
        }
        drop(fs::remove_dir_all(images.join(".work")));
    };
    let first = gpukernel(dir, &["build", "--release", "--arch", "sm_90"]).output().unwrap();
    assert!(first.status.success(), "{first:?}");
    // The names that users look at.
    let finished = || {
        let is_hidden =
            |path: &Path| path.components().any(|part| part.as_os_str().to_string_lossy().starts_with('.'));
        let all = files(&images)
            .into_iter()
            .map(|(path, content)| (path.strip_prefix(&images).unwrap().to_owned(), content));
        // The record has the times of files in it.
        all.filter(|(path, _)| !is_hidden(path) && !path.ends_with("interrupted.build.json"))
            .collect::<BTreeMap<_, _>>()
    };
    let build = || gpukernel(dir, &["build", "--release", "--arch", "sm_90", "--emit", "ll,ptx,cubin,sass"]);
    forget();
    let looks = run(build(), &images, Point::Never);
    let whole = finished();
    assert!(whole.len() >= 5, "{:?}", whole.keys());
    for point in (0..ROUNDS).map(|round| Point::Look(looks * round / ROUNDS)).chain((1..5).map(Point::Change))
    {
        forget();
        run(build(), &images, point);
        for (path, content) in finished() {
            assert_eq!(whole.get(&path), Some(&content), "{point:?}: {}", path.display());
        }
    }
    // The next build is none the worse for it.
    run(build(), &images, Point::Never);
    assert_eq!(finished(), whole);

    let page = dir.join("pages/scale.html");
    fs::create_dir(dir.join("pages")).unwrap();
    let old = || fs::write(&page, "old").unwrap();
    let inspect = || gpukernel(dir, &["inspect", "scale", "--arch", "sm_90", "--html=pages/scale.html"]);
    interrupt(&dir.join("pages"), old, inspect);
}

#[test]
fn bundles() {
    let folder = Folder::with(&[]);
    folder.gpukernel("", &["new", "bundled", "--quiet", "--vcs", "none"]).succeeded();
    folder.lock("bundled");
    let out = folder.path.join("bundled/out");
    let bundle = || {
        let mut command =
            gpukernel(&folder.path.join("bundled"), &["bundle", "--profile", "dev", "-o", "out/bundle"]);
        share_builds(&mut command);
        command
    };
    let run_tests = repository().join("cargo-gpukernel/src/commands/bundle/run-tests.sh");
    let old = || {
        drop(fs::remove_dir_all(&out));
        fs::create_dir_all(out.join("bundle")).unwrap();
        fs::copy(&run_tests, out.join("bundle/run-tests")).unwrap();
        fs::write(out.join("bundle/old"), "old").unwrap();
    };
    old();
    // Built, before it is interrupted while it copies.
    assert!(bundle().output().unwrap().status.success());
    let is_whole = || -> Vec<bool> {
        ["old", "examples/bundled"].iter().map(|name| out.join("bundle").join(name).is_file()).collect()
    };
    assert_eq!(is_whole(), [false, true]);
    let whole = files(&out);
    old();
    let before = files(&out);
    let looks = run(bundle(), &out, Point::Never);
    for point in (0..ROUNDS).map(|round| Point::Look(looks * round / ROUNDS)).chain((1..3).map(Point::Change))
    {
        old();
        run(bundle(), &out, point);
        let now = files(&out);
        // All of one or all of the other.
        assert!(now == before || now == whole, "{point:?}: {:?}", now.keys());
    }
}
