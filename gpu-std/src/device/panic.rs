//! Messages of panics in dev builds: the linker replaces `core`'s `panic_fmt` by the function here.
//!
//! Nothing is formatted on the device. A message is a template that rustc made and, for each argument, an address and the function
//! that formats it; in place of that function the linker puts a number which says how the value is laid out. Template and
//! values go to the module's record, and the host makes the text.
//!
//! Nothing here may panic, or this would call itself: memory is accessed by functions of the prelude, and arithmetic wraps. And it
//! is kept small, because ptxas compiles it for every architecture.

use gpukernel_abi::{
    message::{ARGUMENTS, DYN, MAX_BYTES, STR, TEMPLATE, TEXT},
    panic::{MESSAGE, MESSAGE_WORDS, WORDS},
    rustc::{argument, arguments, table},
};

unsafe extern "C" {
    /// The record for this panic, or null if another thread was first.
    fn __gpukernel_panic_claim(location: *const (), kernel: u32) -> *mut u32;
    fn __gpukernel_panic_publish(record: *mut u32);
    fn __gpukernel_panic_retire() -> !;
    safe fn __gpukernel_kernel() -> u32;
    fn __gpukernel_panic_load_u8(at: *const u8) -> u8;
    fn __gpukernel_panic_load_u64(at: *const u64) -> u64;
    fn __gpukernel_panic_store_u32(at: *mut u32, value: u32);
}

/// # Safety
/// `template` and `arguments` are the two words of a `core::fmt::Arguments`, `location` is a `Location`.
#[cold]
#[inline(never)]
#[unsafe(no_mangle)]
unsafe extern "C" fn __gpukernel_panic_message(
    template: *const u8,
    arguments: *const u8,
    location: *const (),
) -> ! {
    // SAFETY: the record has `WORDS` words, which this thread alone writes until it publishes it.
    unsafe {
        let record = __gpukernel_panic_claim(location, __gpukernel_kernel());
        if !record.is_null() {
            let start = record.wrapping_add(MESSAGE);
            let mut message = Message { at: start, end: record.wrapping_add(WORDS), full: false };
            message.arguments(template, arguments);
            let words = (message.at.addr().wrapping_sub(start.addr()) / 4) as u32;
            __gpukernel_panic_store_u32(record.wrapping_add(MESSAGE_WORDS), words);
            __gpukernel_panic_publish(record);
        }
        __gpukernel_panic_retire()
    }
}

/// What is written of a message so far.
struct Message {
    at: *mut u32,
    end: *mut u32,
    /// Something did not fit, and so nothing more is written.
    full: bool,
}

/// Arguments that are being written: the address of the next, and how many are left.
#[derive(Clone, Copy)]
struct Arguments {
    next: *const u8,
    left: usize,
}

impl Message {
    #[cold]
    #[inline(never)]
    fn put(&mut self, word: u32) {
        if self.full || self.at.addr() >= self.end.addr() {
            self.full = true;
            return;
        }
        // SAFETY: inside the record.
        unsafe { __gpukernel_panic_store_u32(self.at, word) };
        self.at = self.at.wrapping_add(1);
    }

    fn put_address(&mut self, address: *const u8) {
        let address = address.addr() as u64;
        self.put(address as u32);
        self.put((address >> 32) as u32);
    }

    /// Writes a message, and one that is an argument of it, as in `assert_eq!(a, b, "at {i}")`. By a loop: a function that calls
    /// itself has no bounded stack.
    ///
    /// # Safety
    /// They are those of a `core::fmt::Arguments`.
    unsafe fn arguments(&mut self, template: *const u8, arguments: *const u8) {
        let mut outer = Arguments { next: core::ptr::null(), left: 0 };
        // SAFETY: as the caller promises.
        let mut current = unsafe { self.start(template, arguments) };
        loop {
            if current.left == 0 {
                if outer.next.is_null() {
                    return;
                }
                current = outer;
                outer.next = core::ptr::null();
                continue;
            }
            let argument = current.next;
            current.next = argument.wrapping_add(argument::BYTES);
            current.left = current.left.wrapping_sub(1);
            // SAFETY: the template names so many arguments, each an address and a number.
            unsafe {
                let nested = self.argument(
                    load_address(argument.wrapping_add(argument::VALUE)),
                    load(argument.wrapping_add(argument::FORMATTER)),
                );
                if !nested.is_null() && !outer.next.is_null() {
                    // One in one in one: nobody has seen it.
                    self.put(TEXT);
                    self.put_address(nested);
                    self.put(0);
                } else if !nested.is_null() {
                    outer = current;
                    let (template, first) =
                        (nested.wrapping_add(arguments::TEMPLATE), nested.wrapping_add(arguments::ARGUMENTS));
                    current = self.start(load_address(template), load_address(first));
                }
            }
        }
    }

    /// Writes a template, or a text without arguments.
    ///
    /// # Safety
    /// They are those of a `core::fmt::Arguments`.
    unsafe fn start(&mut self, template: *const u8, arguments: *const u8) -> Arguments {
        // A text has twice its length and one in place of the address (core/src/fmt/mod.rs, on `Arguments`).
        let is_text = arguments.addr() & 1 == 1;
        let (mut length, mut left) = (arguments.addr() >> 1, 0);
        if !is_text {
            // SAFETY: as the caller promises.
            (length, left) = unsafe { measure(template) };
        }
        self.put(if is_text { TEXT } else { TEMPLATE });
        self.put_address(template);
        self.put(length as u32);
        if !is_text {
            self.put(left as u32);
        }
        Arguments { next: arguments, left }
    }

    /// Writes an argument; gives the address of its `Arguments` if it is that.
    ///
    /// # Safety
    /// `formatter` is what the linker gave the function that formats what is at `value`; if that is null, it is a width or precision.
    unsafe fn argument(&mut self, value: *const u8, formatter: u64) -> *const u8 {
        if value.is_null() {
            self.put(0);
            self.put(formatter as u32 & 0xffff);
            return core::ptr::null();
        }
        // SAFETY: as the caller promises.
        unsafe {
            let (mut value, mut formatter) = (dereference(value, formatter), formatter as u32);
            if formatter & 0xff == DYN {
                let table = load_address(value.wrapping_add(8));
                formatter = load(table.wrapping_add(table::FORMATTER)) as u32;
                value = dereference(load_address(value), u64::from(formatter));
            }
            self.put(formatter);
            match formatter & 0xff {
                ARGUMENTS => return value,
                STR => {
                    let length = load(value.wrapping_add(8)) as usize;
                    self.put(length as u32);
                    self.bytes(load_address(value), length);
                }
                bytes @ 1..=MAX_BYTES => self.bytes(value, bytes as usize),
                _ => {}
            }
        }
        core::ptr::null()
    }

    /// # Safety
    /// There are that many.
    #[cold]
    #[inline(never)]
    unsafe fn bytes(&mut self, from: *const u8, count: usize) {
        let (mut word, mut index) = (0_u32, 0_usize);
        while index < count && !self.full {
            // SAFETY: as the caller promises.
            let byte = unsafe { __gpukernel_panic_load_u8(from.wrapping_add(index)) };
            word |= u32::from(byte) << ((index & 3) as u32).wrapping_mul(8);
            index = index.wrapping_add(1);
            if index & 3 == 0 || index == count {
                self.put(word);
                word = 0;
            }
        }
    }
}

/// Follows the references that lie around a value.
///
/// # Safety
/// There are as many as the formatter says.
unsafe fn dereference(mut value: *const u8, formatter: u64) -> *const u8 {
    let mut references = formatter >> 8 & 0xff;
    while references != 0 {
        // SAFETY: as the caller promises.
        value = unsafe { load_address(value) };
        references = references.wrapping_sub(1);
    }
    value
}

/// How many bytes a template has, and how many arguments it names (core/src/fmt/mod.rs, `write`).
///
/// # Safety
/// It is one.
#[cold]
#[inline(never)]
unsafe fn measure(template: *const u8) -> (usize, usize) {
    // SAFETY: as the caller promises.
    let byte = |at: usize| usize::from(unsafe { __gpukernel_panic_load_u8(template.wrapping_add(at)) });
    let half = |at: usize| byte(at) | byte(at.wrapping_add(1)) << 8;
    let (mut at, mut next, mut count) = (0_usize, 0_usize, 0_usize);
    let mut names = |index: usize| count = usize::max(count, index.wrapping_add(1));
    loop {
        let piece = byte(at);
        at = at.wrapping_add(1);
        match piece {
            0 => break,
            1..0x80 => at = at.wrapping_add(piece),
            0x80 => at = at.wrapping_add(2).wrapping_add(half(at)),
            _ => {
                if piece & 1 != 0 {
                    at = at.wrapping_add(4);
                }
                // Width and precision, which may be arguments themselves.
                if piece & 2 != 0 {
                    if piece & 16 != 0 {
                        names(half(at));
                    }
                    at = at.wrapping_add(2);
                }
                if piece & 4 != 0 {
                    if piece & 32 != 0 {
                        names(half(at));
                    }
                    at = at.wrapping_add(2);
                }
                if piece & 8 != 0 {
                    next = half(at);
                    at = at.wrapping_add(2);
                }
                names(next);
                next = next.wrapping_add(1);
            }
        }
    }
    (at, count)
}

/// # Safety
/// Eight bytes, aligned.
unsafe fn load(at: *const u8) -> u64 {
    // SAFETY: as the caller promises.
    unsafe { __gpukernel_panic_load_u64(at.cast()) }
}

/// # Safety
/// As [`load`].
unsafe fn load_address(at: *const u8) -> *const u8 {
    // SAFETY: as the caller promises.
    core::ptr::with_exposed_provenance(unsafe { load(at) } as usize)
}
