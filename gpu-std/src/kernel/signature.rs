//! Signatures of kernels and constants: texts by which a launch checks that the code in an image is that of the program's
//! kernel.
//!
//! They are assembled at compile time, on the host by the program's rustc and on the device by the one that compiles kernels,
//! and are compared byte by byte. Two kernels with the same signature take the same arguments in the same way, so that what
//! is sound for one is sound for the other; `docs/decisions/0019` gives the reasons.

use core::alloc::Layout;

use crate::contract::record::Condition;

/// A text assembled at compile time, as a tree: nothing on stable Rust concatenates strings of generic types.
///
/// Different descriptions have different texts: a word that a programmer chooses is an identifier, a number, or quoted.
#[derive(Clone, Copy, Debug)]
pub enum Text {
    /// A word, verbatim.
    Word(&'static str),
    /// A text in quotation marks, with `\` before quotation marks, backslashes and line breaks inside.
    Quoted(&'static str),
    /// A number in decimal digits.
    Number(i128),
    /// `name<a, b>`, or `name` alone.
    Of(&'static str, &'static [Text]),
    /// Several texts, concatenated.
    All(&'static [Text]),
}

/// Implements the text of a signature, whose length has to be known before it is written.
macro_rules! as_text {
    ($($signature:ident: $lines:literal;)*) => {$(
        impl $signature {
            /// Returns the length of its text in bytes.
            pub const fn len(&self) -> usize {
                let mut sink = Sink { buffer: &mut [], len: 0 };
                self.put(&mut sink);
                sink.len
            }

            /// Returns `false`: the text has lines.
            pub const fn is_empty(&self) -> bool {
                false
            }

            #[doc = concat!("Its text, of `N` bytes: ", $lines, ".")]
            pub const fn text<const N: usize>(&self) -> [u8; N] {
                let mut buffer = [0; N];
                let mut sink = Sink { buffer: &mut buffer, len: 0 };
                self.put(&mut sink);
                assert!(sink.len == N, "the length of a signature is its parameter");
                buffer
            }
        }
    )*};
}

as_text! {
    Signature: "the name, the package, the function, what it requires, the shared arrays, and then one line per parameter";
    ConstantSignature: "the name, the package and the type, in lines";
}

/// A sink of bytes: writes them to a buffer as far as it has room, and counts them in any case.
pub(crate) struct Sink<'a> {
    buffer: &'a mut [u8],
    len: usize,
}

impl Sink<'_> {
    /// In one operation: rustc takes 4 ms per kernel to evaluate its signature this way, and twice as long with a safe copy
    /// or a loop.
    const fn bytes(&mut self, bytes: &[u8]) {
        if self.len + bytes.len() <= self.buffer.len() {
            // SAFETY: there is room behind `len` bytes, and no other reference to the buffer.
            unsafe {
                let end = self.buffer.as_mut_ptr().add(self.len);
                core::ptr::copy_nonoverlapping(bytes.as_ptr(), end, bytes.len());
            }
        }
        self.len += bytes.len();
    }

    const fn byte(&mut self, byte: u8) {
        self.bytes(&[byte]);
    }

    pub(crate) const fn word(&mut self, word: &str) {
        self.bytes(word.as_bytes());
    }

    const fn quoted(&mut self, word: &str) {
        self.byte(b'"');
        let (mut rest, mut i) = (word.as_bytes(), 0);
        while i < rest.len() {
            if matches!(rest[i], b'"' | b'\\' | b'\n') {
                let (before, from) = rest.split_at(i);
                self.bytes(before);
                self.byte(b'\\');
                self.byte(from[0]);
                (rest, i) = (from.split_at(1).1, 0);
            } else {
                i += 1;
            }
        }
        self.bytes(rest);
        self.byte(b'"');
    }

    pub(crate) const fn number(&mut self, number: i128) {
        if number < 0 {
            self.byte(b'-');
        }
        let (mut rest, mut power) = (number.unsigned_abs(), 1);
        while rest / power >= 10 {
            power *= 10;
        }
        while power > 0 {
            self.byte(b'0' + (rest / power) as u8);
            rest %= power;
            power /= 10;
        }
    }

    /// Writes the number in hexadecimal, after `0x`.
    pub(crate) const fn bits(&mut self, bits: u128) {
        self.word("0x");
        let mut shift = (128 - (bits | 1).leading_zeros()).next_multiple_of(4);
        while shift > 0 {
            shift -= 4;
            self.byte(b"0123456789abcdef"[(bits >> shift) as usize & 0xf]);
        }
    }

    const fn layout(&mut self, layout: &Layout) {
        self.number(layout.size() as i128);
        self.byte(b':');
        self.number(layout.align() as i128);
    }

    const fn list(&mut self, texts: &[Text], between: &str) {
        let mut i = 0;
        while i < texts.len() {
            if i > 0 {
                self.word(between);
            }
            self.text(&texts[i]);
            i += 1;
        }
    }

    const fn text(&mut self, text: &Text) {
        match text {
            Text::Word(word) => self.word(word),
            Text::Quoted(word) => self.quoted(word),
            Text::Number(number) => self.number(*number),
            Text::Of(name, arguments) => {
                self.word(name);
                if !arguments.is_empty() {
                    self.byte(b'<');
                    self.list(arguments, ", ");
                    self.byte(b'>');
                }
            }
            Text::All(texts) => self.list(texts, ""),
        }
    }

    const fn package(&mut self, package: &Package) {
        self.quoted(package.name);
        self.byte(b' ');
        self.quoted(package.version);
    }

    /// Writes the package and the version of gpu-std, which are compared first.
    const fn head(&mut self, package: &Package) {
        self.package(package);
        self.word(" with gpu-std ");
        self.quoted(env!("CARGO_PKG_VERSION"));
    }
}

/// A package, as cargo describes it to rustc. Without its folder: images do not depend on where they are built.
#[derive(Clone, Copy, Debug)]
pub struct Package {
    /// Its name.
    pub name: &'static str,
    /// Its version.
    pub version: &'static str,
}

/// Returns the package that is being compiled.
#[doc(hidden)]
#[macro_export]
macro_rules! __package {
    () => {
        $crate::signature::Package {
            name: match ::core::option_env!("CARGO_PKG_NAME") {
                ::core::option::Option::Some(name) => name,
                ::core::option::Option::None => "",
            },
            version: match ::core::option_env!("CARGO_PKG_VERSION") {
                ::core::option::Option::Some(version) => version,
                ::core::option::Option::None => "",
            },
        }
    };
}

/// The function that a kernel was declared as.
#[derive(Clone, Copy, Debug)]
pub struct Origin {
    /// The package that declares it.
    pub package: Package,
    /// Its path, crate first.
    pub path: &'static str,
    /// Whether it is an `unsafe fn`.
    pub is_unsafe: bool,
    /// The condition that it requires of arguments, with the values of the constants in it.
    pub requires: Condition,
}

/// The signature of a kernel.
///
/// ```
/// use gpu_std::{host::Kernel, prelude::*};
///
/// #[kernel]
/// pub fn saxpy(a: f32, x: &[f32], y: PerThread<f32>) {
///     for (i, y) in y {
///         *y += a * x[i];
///     }
/// }
///
/// fn signature<K: Kernel>(_: K) -> String {
///     K::INFO.signature.to_string()
/// }
///
/// let text = signature(saxpy);
/// assert_eq!(text.lines().skip(4).collect::<Vec<_>>(), ["shared", "f32", "&[f32]", "PerThread<f32>"]);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Signature {
    /// The path by which the kernel is found.
    pub name: &'static str,
    /// The package with that path.
    pub package: Package,
    /// The function that it was declared as.
    pub origin: Origin,
    /// [`Param::SIGNATURE`](crate::param::Param::SIGNATURE) of each parameter that launches give.
    pub parameters: &'static [Text],
    /// Its shared arrays.
    pub arrays: &'static [Layout],
    /// Whether these are in dynamic shared memory, which launches reserve.
    pub dynamic_arrays: bool,
}

impl Signature {
    const fn put(&self, sink: &mut Sink<'_>) {
        let origin = &self.origin;
        sink.word(self.name);
        sink.byte(b'\n');
        sink.head(&self.package);
        sink.byte(b'\n');
        sink.word(if origin.is_unsafe { "unsafe fn " } else { "fn " });
        sink.word(origin.path);
        sink.word(" of ");
        sink.package(&origin.package);
        sink.word("\nrequires ");
        origin.requires.put(sink);
        sink.word(if self.dynamic_arrays { "\nshared, dynamic" } else { "\nshared" });
        let mut i = 0;
        while i < self.arrays.len() {
            sink.byte(b' ');
            sink.layout(&self.arrays[i]);
            i += 1;
        }
        let mut i = 0;
        while i < self.parameters.len() {
            sink.byte(b'\n');
            sink.text(&self.parameters[i]);
            i += 1;
        }
    }
}

/// The signature of a constant.
#[derive(Clone, Copy, Debug)]
pub struct ConstantSignature {
    /// Its path, crate first.
    pub name: &'static str,
    /// The package that declares it.
    pub package: Package,
    /// [`DeviceCopy::TYPE`](crate::DeviceCopy::TYPE) of its value.
    pub ty: Text,
}

impl ConstantSignature {
    const fn put(&self, sink: &mut Sink<'_>) {
        sink.word(self.name);
        sink.byte(b'\n');
        sink.head(&self.package);
        sink.byte(b'\n');
        sink.text(&self.ty);
    }
}

#[cfg(all(test, not(target_arch = "nvptx64")))]
pub(crate) use display::written;

#[cfg(not(target_arch = "nvptx64"))]
mod display {
    use core::fmt;
    use std::{string::String, vec};

    use super::{ConstantSignature, Signature, Sink};

    /// Returns what `put` writes.
    pub(crate) fn written(put: impl Fn(&mut Sink<'_>)) -> String {
        let mut counted = Sink { buffer: &mut [], len: 0 };
        put(&mut counted);
        let mut buffer = vec![0; counted.len];
        put(&mut Sink { buffer: &mut buffer, len: 0 });
        String::from_utf8_lossy(&buffer).into_owned()
    }

    impl fmt::Display for Signature {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str(&written(|sink| self.put(sink)))
        }
    }

    impl fmt::Display for ConstantSignature {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str(&written(|sink| self.put(sink)))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::ToString;

    const HERE: Package = Package { name: "demo", version: "1.2.3" };

    fn text(ty: Text) -> std::string::String {
        let text = ConstantSignature { name: "a::B", package: HERE, ty }.to_string();
        text.lines().skip(2).collect::<std::vec::Vec<_>>().join("\n")
    }

    #[test]
    fn the_text_at_compile_time_is_that_of_the_host() {
        const SIGNATURE: Signature = Signature {
            name: "a::b",
            package: HERE,
            origin: Origin { package: HERE, path: "a::b", is_unsafe: true, requires: Condition::NONE },
            parameters: &[
                Text::Of("BlockTiles", &[Text::Word("f32"), Text::Number(4)]),
                Text::All(&[Text::Word("["), Text::Word("u8"), Text::Word("]")]),
            ],
            arrays: &[Layout::new::<u64>(), Layout::new::<[u8; 3]>()],
            dynamic_arrays: false,
        };
        const BYTES: [u8; SIGNATURE.len()] = SIGNATURE.text();
        let expected = "a::b\n\"demo\" \"1.2.3\" with gpu-std \"0.1.0\"\nunsafe fn a::b of \"demo\" \"1.2.3\"\nrequires nothing\n\
                        shared 8:8 3:1\nBlockTiles<f32, 4>\n[u8]";
        assert_eq!(core::str::from_utf8(&BYTES), Ok(expected));
        assert_eq!(SIGNATURE.to_string(), expected);
    }

    #[test]
    fn numbers() {
        for number in [0, 7, 10, -1, 99, 100, i128::MAX, i128::MIN] {
            assert_eq!(text(Text::Number(number)), number.to_string());
        }
    }

    #[test]
    fn quotation_cannot_be_left() {
        let one = text(Text::All(&[Text::Quoted("a"), Text::Word(" "), Text::Quoted("b")]));
        assert_eq!(one, r#""a" "b""#);
        assert_ne!(text(Text::Quoted(r#"a" "b"#)), one);
        assert_ne!(text(Text::Quoted("\\\"")), text(Text::Quoted("\\\\\"")));
    }
}
