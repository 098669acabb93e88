//! Safe kernels cost nothing: their machine code has no more registers and branches than that of the same kernels with raw pointers.

use gpukernel_build::{Arch, Emit, Options};
use gpukernel_tests::{KernelCrate, function};

const ARCH: Arch = Arch::new(9, 0);

/// What differs by so few registers is allocated differently, not more expensive.
const REGISTERS: u32 = 2;

/// Compares a kernel of `tests/compiler/fixtures/pairs` with its twin.
fn compare(kernel: &str) {
    let options = Options { archs: vec![ARCH], emit: vec![Emit::Sass], ..Options::default() };
    let pairs = KernelCrate::fixture("pairs").inspect(options);
    let twin = format!("{kernel}_raw");
    let registers = |symbol: &str| {
        let kernel = pairs.built.manifest.kernels.iter().find(|kernel| kernel.symbol == symbol);
        let resources = kernel.and_then(|kernel| kernel.resources.get(&ARCH));
        let resources = resources.unwrap_or_else(|| panic!("there is no kernel {symbol}"));
        assert_eq!((resources.stack_bytes, resources.spill_store_bytes), (0, 0), "{symbol}");
        resources.registers
    };
    let (safe, raw) = (registers(kernel), registers(&twin));
    assert!(safe <= raw + REGISTERS, "{kernel} has {safe} registers, {twin} {raw}");
    let sass = pairs.sass(&ARCH.to_string());
    let (safe, raw) = (branches(&sass, kernel), branches(&sass, &twin));
    assert!(safe <= raw, "{kernel} has {safe} branches, {twin} {raw}:\n{}", function(&sass, kernel));
}

/// How many instructions of a function go somewhere else, conditionally or not: branches, calls and early ends.
fn branches(sass: &str, symbol: &str) -> usize {
    let is_branch = |line: &&str| {
        let Some((_, instruction)) = line.split_once("*/") else { return false };
        let mut words = instruction.split_whitespace();
        let first = words.next().unwrap_or_default();
        let predicated = first.starts_with('@');
        let operation = if predicated { words.next().unwrap_or_default() } else { first };
        let operation = operation.split('.').next().unwrap_or_default();
        ["BRA", "BRX", "CALL"].contains(&operation) || predicated && operation == "EXIT"
    };
    function(sass, symbol).lines().filter(is_branch).count()
}

macro_rules! pairs {
    ($($kernel:ident)*) => {$(
        #[test]
        fn $kernel() {
            compare(stringify!($kernel));
        }
    )*};
}

pairs! { histogram matmul nbody saxpy transpose }
