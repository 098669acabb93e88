// Compiled and run by a device rustc when it is used for the first time: are its `Location` and `Arguments` laid out as gpukernel reads them?
// Constants of `gpukernel_abi::rustc` stand in front of this. The device has the layouts of the host: both are 64-bit and little endian.

use std::{
    fmt::{self, Arguments, Debug, Formatter},
    mem::size_of,
    panic::Location,
    process::exit,
};

/// A text of 130 bytes, more than a byte of a template can say.
macro_rules! long {
    () => {
        "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz"
    };
}

struct Own;

impl Debug for Own {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str("own")
    }
}

fn require(what: &str, holds: bool) {
    if !holds {
        println!("{what}");
        exit(1);
    }
}

fn word(at: *const u8, offset: usize) -> usize {
    unsafe { at.add(offset).cast::<usize>().read() }
}

fn number(at: *const u8, offset: usize) -> u32 {
    unsafe { at.add(offset).cast::<u32>().read() }
}

fn location(place: &Location<'_>) {
    let at = (&raw const *place).cast::<u8>();
    require("the size of `Location`", size_of::<Location<'_>>() == location::BYTES);
    require("the file of `Location`", word(at, location::FILE) == place.file().as_ptr() as usize);
    require("the length of the file in `Location`", word(at, location::FILE_BYTES) == place.file().len());
    require("the line of `Location`", number(at, location::LINE) == place.line());
    require("the column of `Location`", number(at, location::COLUMN) == place.column());
}

fn text(of: Arguments<'_>, expected: &str) {
    let at = (&raw const of).cast::<u8>();
    require("the size of `Arguments`", size_of::<Arguments<'_>>() == arguments::BYTES);
    require("the length of a text in `Arguments`", word(at, arguments::ARGUMENTS) == expected.len() * 2 + 1);
    let start = word(at, arguments::TEMPLATE) as *const u8;
    require("a text in `Arguments`", unsafe { std::slice::from_raw_parts(start, expected.len()) } == expected.as_bytes());
}

fn template(of: Arguments<'_>, expected: &[u8], values: &[(usize, usize)]) {
    let at = (&raw const of).cast::<u8>();
    let start = word(at, arguments::TEMPLATE) as *const u8;
    require("the template of `Arguments`", unsafe { std::slice::from_raw_parts(start, expected.len()) } == expected);
    let mut next = word(at, arguments::ARGUMENTS) as *const u8;
    require("the alignment of the arguments of `Arguments`", next as usize & 1 == 0);
    for (value, formatter) in values {
        require("the value of an argument", word(next, argument::VALUE) == *value);
        let found = word(next, argument::FORMATTER);
        let found = if *value == 0 { found & 0xffff } else { found };
        require("the formatter of an argument", found == *formatter);
        next = unsafe { next.add(argument::BYTES) };
    }
}

fn main() {
    location(Location::caller());
    text(format_args!("a text without arguments"), "a text without arguments");

    let (a, b, width, precision) = (Own, Own, 9_usize, 3_usize);
    let formatter = <Own as Debug>::fmt as fn(&Own, &mut Formatter<'_>) -> fmt::Result as usize;
    let [at_a, at_b] = [&a, &b].map(|own| &raw const *own as usize);
    // A short text; a value with flags and a width; a short text; one whose width and precision are arguments; a long text; the end.
    let mut expected = b"\x02x=\xc3\x20\x00\xa0\x28\x08\x00\x01 \xf7\x20\x00\x00\x18\x02\x00\x03\x00\x80\x82\x00".to_vec();
    expected.extend(concat!(long!(), "\0").bytes());
    template(
        format_args!(concat!("x={1:>+#8?} {0:<2$.3$?}", long!()), a, b, width, precision),
        &expected,
        &[(at_b, formatter), (at_a, formatter), (0, width), (0, precision)],
    );

    let value: &dyn Debug = &a;
    let at = (&raw const value).cast::<u8>();
    require("the value of a `&dyn Debug`", word(at, 0) == at_a);
    require("the table of a `&dyn Debug`", word(word(at, 8) as *const u8, table::FORMATTER) == formatter);
}
