//! What kernels print: records of values become text.
//!
//! gpu-std's print.rs writes the records, for the GPU and for the CPU device.

use gpu_std::print::{HEAD_WORDS, tag};

use crate::{
    format::{Integer, Piece, Value, parse},
    message::{self, Read},
};

/// The text of the records that lie one after another in `words`; what is not written is zero.
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
    let mut words = Words { rest: record.get(1..)?, read };
    let template = words.text()?;
    let Value::Tuple(values) = words.value()? else { return None };
    let pieces = parse(&template).into_iter().map(|piece| match piece {
        Piece::Text(text) => text,
        Piece::Value(place) => place.render(&values),
    });
    Some(pieces.collect())
}

struct Words<'a> {
    rest: &'a [u32],
    read: &'a Read<'a>,
}

impl Words<'_> {
    fn word(&mut self) -> Option<u32> {
        self.rest.split_off_first().copied()
    }

    /// So many words as one number, the lowest first.
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
        let word = self.word()?;
        Some(match word & 0xff {
            tag::INTEGER => {
                let (bits, signed) = (word >> 8 & 0xff, word >> 16 & 1 == 1);
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
    use super::*;

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
