//! Damaged and invented images: an error or an image, never a panic. Always the same inputs; `.ci/run fuzz` takes many more.

use gpukernel_image::{Arch, Code, Image, ImageError, ImageWriter, Manifest, PartKind};
use gpukernel_random_inputs::config;
use proptest::{collection::vec, prelude::*};
use serde_json::{Value, json};

const HEADER_BYTES: usize = 24;

fn valid() -> Vec<u8> {
    let mut writer = ImageWriter::new(Manifest::new("demo"));
    writer.add_ptx(Arch::new(7, 5), ".version 6.3");
    writer.add_cubin(Arch::new(9, 0), vec![2; 7]);
    writer.add_part(PartKind::Object, "a.o", vec![7; 3]);
    writer.finish()
}

/// What every image begins with.
fn magic() -> Vec<u8> {
    valid()[..8].to_vec()
}

/// The image of this index and this code, with the right lengths and checksum.
fn sealed(index: &[u8], code: &[u8]) -> Vec<u8> {
    let mut image = magic();
    image.extend((index.len() as u64).to_le_bytes());
    image.extend([0; 8]);
    image.extend(index);
    image.resize(image.len().next_multiple_of(8), 0);
    image.extend(code);
    image[16..20].copy_from_slice(&crc32fast::hash(index).to_le_bytes());
    image
}

/// Parses, and asks all that an image answers.
fn look_at(bytes: &[u8]) {
    match Image::parse(bytes) {
        Err(error) => assert!(!error.to_string().is_empty()),
        Ok(image) => {
            // Without a panic, whatever they say: what cannot be unpacked is an error, and compressed bytes stand for at most 255 each.
            let is_bounded = |unpacked: Result<Vec<u8>, ImageError>| {
                unpacked.map_or(0, |code| code.len()) / 255 <= bytes.len()
            };
            for arch in [Arch::new(5, 0), Arch::new(9, 0), Arch::new(99, 9)] {
                assert!(image.code_for(arch).is_none_or(|code| is_bounded(code.unpack())));
            }
            assert!(image.code().iter().all(|code| is_bounded(code.unpack())));
            assert!(image.parts().iter().all(|part| is_bounded(part.unpack())));
            // Bytes that are no text are replaced by characters of three bytes.
            let is_short = |code: &Code<'_>| {
                code.text().map_or(0, |text| text.len()) <= 3 * code.unpack().map_or(0, |code| code.len())
            };
            assert!(image.code().iter().all(is_short));
            assert!(image.manifest().kernel("").is_none() || !format!("{image:?}").is_empty());
        }
    }
}

/// The same of bytes that begin like an image, so that more than that is looked at.
fn look_inside(bytes: &[u8]) {
    assert!(bytes.len() < HEADER_BYTES || !matches!(Image::parse(bytes), Err(ImageError::Magic)));
    look_at(bytes);
}

/// Numbers at the edges of types, and values of other kinds than expected.
fn odd_value() -> impl Strategy<Value = Value> {
    prop_oneof![
        prop_oneof![Just(0), Just(1), Just(u64::MAX), Just(u64::from(u32::MAX)), Just(1 << 63)]
            .prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        "[a-z0-9_.: \u{0}é]{0,12}".prop_map(Value::from),
        any::<bool>().prop_map(Value::from),
        Just(Value::Null),
        Just(json!([])),
        Just(json!({})),
        Just(json!({ "kind": "ptx", "arch": "sm_90", "offset": u64::MAX, "len": 2 })),
    ]
}

/// Replaces, removes or doubles the node that the steps lead to.
fn change(value: &mut Value, steps: &[usize], kind: u8, odd: Value) {
    let Some((&step, rest)) = steps.split_first() else { return *value = odd };
    match value {
        Value::Array(values) if !values.is_empty() => {
            let at = step % values.len();
            match (kind, rest.is_empty()) {
                (1, true) => drop(values.remove(at)),
                (2, true) => values.push(values[at].clone()),
                _ => change(&mut values[at], rest, kind, odd),
            }
        }
        Value::Object(fields) if !fields.is_empty() => {
            let key = fields.keys().nth(step % fields.len()).cloned().unwrap_or_default();
            match (kind, rest.is_empty()) {
                (1, true) => drop(fields.remove(&key)),
                (2, true) => drop(fields.insert(format!("{key}_"), odd)),
                _ => change(&mut fields[&key], rest, kind, odd),
            }
        }
        _ => *value = odd,
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn fuzz_any_bytes(bytes in vec(any::<u8>(), 0..200)) {
        look_at(&bytes);
        look_inside(&[&magic()[..], &bytes].concat());
    }

    #[test]
    fn fuzz_damaged_bytes_with_the_right_checksum(changes in vec((any::<prop::sample::Index>(), any::<u8>()), 1..8)) {
        let mut image = valid();
        for (at, byte) in changes {
            let at = at.index(image.len());
            image[at] = byte;
        }
        let length = u64::from_le_bytes(*image[8..].first_chunk().expect("a header"));
        let index = image[HEADER_BYTES..].get(..length as usize).unwrap_or_default();
        let checksum = crc32fast::hash(index);
        image[16..20].copy_from_slice(&checksum.to_le_bytes());
        look_at(&image);
        // With what it must begin with, too.
        image[..8].copy_from_slice(&magic());
        look_inside(&image);
    }

    #[test]
    fn fuzz_any_index(index in vec(any::<u8>(), 0..200), code in vec(any::<u8>(), 0..40)) {
        look_inside(&sealed(&index, &code));
    }

    #[test]
    fn fuzz_an_index_of_other_values(
        changes in vec((vec(any::<usize>(), 1..7), 0..3_u8, odd_value()), 1..5),
        code in vec(any::<u8>(), 0..40),
    ) {
        let image = valid();
        let length = usize::from(image[8]) | usize::from(image[9]) << 8;
        let mut index: Value = serde_json::from_slice(&image[HEADER_BYTES..][..length]).expect("a valid index");
        for (steps, kind, odd) in changes {
            change(&mut index, &steps, kind, odd);
        }
        look_inside(&sealed(index.to_string().as_bytes(), &code));
    }
}
