//! Output of kernels: formats records of values as text.
//!
//! gpu-std's print.rs writes the records, for the GPU and for the CPU device.

use gpukernel_abi::output::{RECORD_HEAD_WORDS as HEAD_WORDS, tag};

use crate::{
    format::{Integer, Segment, Value, parse},
    message::{self, Read},
};

/// Maximum depth of nested values: more than the compiler of kernels accepts.
const MAX_DEPTH: u32 = 128;

/// The text of the consecutive records in `words`; words that are not written are zero.
pub(crate) fn texts(words: &[u32], read: &Read<'_>) -> Vec<String> {
    let mut texts = Vec::new();
    let mut rest = words;
    while let Some(&length) = rest.first().filter(|length| **length >= HEAD_WORDS) {
        let Some(record) = rest.split_off(..length as usize) else { break };
        texts.push(text(record, read).unwrap_or_else(|| "<output that cannot be read>\n".to_owned()));
    }
    texts
}

/// The text of one record.
pub(crate) fn text(record: &[u32], read: &Read<'_>) -> Option<String> {
    let mut words = Words { rest: record.get(1..)?, depth: 0, read };
    let template = words.text()?;
    let Value::Tuple(values) = words.value()? else { return None };
    let pieces = parse(&template).into_iter().map(|piece| match piece {
        Segment::Text(text) => text,
        Segment::Value(place) => place.render(&values),
    });
    Some(pieces.collect())
}

struct Words<'a> {
    rest: &'a [u32],
    /// The depth of the nested value that is being read.
    depth: u32,
    read: &'a Read<'a>,
}

impl Words<'_> {
    fn word(&mut self) -> Option<u32> {
        self.rest.split_off_first().copied()
    }

    /// Reads a number of `words` words, the lowest first.
    fn number(&mut self, words: u32) -> Option<u128> {
        (0..words).try_fold(0, |number, index| Some(number | u128::from(self.word()?) << (32 * index)))
    }

    fn text(&mut self) -> Option<String> {
        let address = self.number(2)? as u64;
        message::text(address, self.word()?.into(), self.read)
    }

    fn values(&mut self, count: u32) -> Option<Vec<Value>> {
        (0..count).map(|_| self.value()).collect()
    }

    fn value(&mut self) -> Option<Value> {
        self.depth += 1;
        let value = (self.depth <= MAX_DEPTH).then(|| self.value_at_depth())?;
        self.depth -= 1;
        value
    }

    fn value_at_depth(&mut self) -> Option<Value> {
        let word = self.word()?;
        Some(match word & 0xff {
            tag::INTEGER => {
                let (bits, signed) = (word >> 8 & 0xff, word >> 16 & 1 == 1);
                if !(1..=128).contains(&bits) {
                    return None;
                }
                Value::Integer(Integer { pattern: self.number(bits.div_ceil(32))?, bits, signed })
            }
            tag::F32 => Value::F32(f32::from_bits(self.word()?)),
            tag::F64 => Value::F64(f64::from_bits(self.number(2)? as u64)),
            tag::BOOL => Value::Bool(self.word()? != 0),
            tag::CHAR => Value::Char(char::from_u32(self.word()?)?),
            tag::TEXT => Value::Text(self.text()?),
            tag::LIST => Value::List(self.values(word >> 8)?),
            tag::TUPLE => Value::Tuple(self.values(word >> 8)?),
            tag::STRUCT => {
                let names = self.text()?;
                let (name, fields) = names.split_once(' ')?;
                let mut values = self.values(word >> 8)?.into_iter();
                let fields = fields.split(' ').map(|field| Some((field.to_owned(), values.next()?)));
                Value::Struct(name.to_owned(), fields.collect::<Option<_>>()?)
            }
            tag::OPTION => Value::Option(match word >> 8 {
                0 => None,
                _ => Some(Box::new(self.value()?)),
            }),
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use gpukernel_random_inputs::config;
    use proptest::{collection::vec, prelude::*};

    use super::*;

    /// Reads a text, which is a template or the names of fields, by its address; others are missing.
    fn read(address: u64, bytes: usize) -> Option<Vec<u8>> {
        const TEXTS: [&str; 6] =
            ["{0:?} {1:#?}", "{0:1$.2$e}|{2:>99999}", "P x y", "{0:x?}{1:é^+#09}", "{", "ß"];
        let text = TEXTS[address as usize % TEXTS.len()].as_bytes();
        text.get(..bytes).map(<[u8]>::to_vec)
    }

    /// The first word of a value with a type tag and its details, or any word.
    fn word() -> impl Strategy<Value = u32> {
        prop_oneof![
            4 => (0..12_u32, prop_oneof![0..6_u32, 0..0x200_u32]).prop_map(|(kind, detail)| kind | detail << 8),
            2 => 0..13_u32,
            1 => any::<u32>(),
        ]
    }

    proptest! {
        #![proptest_config(config())]

        /// Memory written by the GPU may hold anything: it is formatted, or reported as unreadable.
        #[test]
        fn fuzz_records_become_text(lengths in vec(4_u32..40, 0..4), words in vec(word(), 0..120)) {
            let mut words = words;
            let mut at = 0;
            for length in lengths {
                if let Some(first) = words.get_mut(at) {
                    *first = length;
                }
                at += length as usize;
            }
            prop_assert!(texts(&words, &read).len() <= words.len() / HEAD_WORDS as usize);
        }

        #[test]
        fn fuzz_values_become_text(template in 0_u32..6, length in 0_u32..24, values in vec(word(), 0..60)) {
            let head = [0, template, 0, length, tag::TUPLE | 3 << 8];
            text(&[&head[..], &values].concat(), &read);
        }

        /// Any text is accepted as a template.
        #[test]
        fn fuzz_templates_are_text(template in "[{}0-9:<^>+#.$?xXeEbé ]{0,40}") {
            let read = |_: u64, _: usize| Some(template.clone().into_bytes());
            let values = [tag::TUPLE | 2 << 8, tag::F32, 0x7fc0_0000, tag::INTEGER | 128 << 8, 1, 2, 3, u32::MAX];
            let head = [0, 1, 0, template.len() as u32];
            prop_assert!(text(&[&head[..], &values].concat(), &read).is_some());
        }
    }

    #[test]
    fn integers_have_a_number_of_bits_that_there_is() {
        let of = |bits: u32| {
            text(
                &[[5, 0, 0, 5].as_slice(), &[tag::TUPLE | 1 << 8, tag::INTEGER | bits << 8], &[7; 9]]
                    .concat(),
                &|_, _| Some(b"{0:x}".to_vec()),
            )
        };
        assert_eq!((of(0), of(129), of(255)), (None, None, None));
        assert_eq!(of(128).as_deref(), Some("7000000070000000700000007"));
    }

    #[test]
    fn values_are_not_endlessly_deep() {
        let deep = |depth| {
            let values = vec![tag::OPTION | 1 << 8; depth];
            text(
                &[[0, 0, 0, 5].as_slice(), &[tag::TUPLE | 1 << 8], &values, &[tag::BOOL, 1]].concat(),
                &|_, _| Some(b"{0:?}".to_vec()),
            )
        };
        assert!(deep(100).is_some());
        assert_eq!(deep(1 << 20), None);
    }

    #[test]
    fn what_is_not_written_is_no_record() {
        let read = |_: u64, bytes: usize| Some(b"text"[..bytes].to_vec());
        let record = [5, 0x10, 0, 4, tag::TUPLE];
        assert_eq!(texts(&record, &read), ["text"]);
        assert_eq!(texts(&[&record[..], &record, &[0, 0, 0]].concat(), &read), ["text", "text"]);
        assert_eq!(texts(&[9, 0x10, 0, 4, tag::TUPLE], &read), [""; 0], "longer than what is there");
        assert_eq!(texts(&[5, 0x10, 0, 4, 77], &read), ["<output that cannot be read>\n"]);
    }
}
