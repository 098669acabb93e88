//! Axes: the parameters of a benchmark, and their values.

use std::{fmt::Display, str::FromStr};

use gpukernel::Device;

use crate::{Error, report::AxisValue};

/// A parameter of a benchmark: written by `#[bench]`.
#[derive(Debug)]
pub struct Axis {
    /// The name of the parameter.
    pub name: &'static str,
    /// Whether it is a type or a constant, of which only the declared values are compiled.
    pub compiled: bool,
    /// The values that are declared for a device, as texts.
    pub values: fn(&Device) -> Vec<String>,
}

/// The values of one row: written to by the library, read by `#[bench]`.
#[derive(Clone, Debug, Default)]
pub struct Values(Vec<Value>);

#[derive(Clone, Debug)]
struct Value {
    name: &'static str,
    text: String,
    /// Its place among the declared values; those of the command line have none.
    index: Option<usize>,
}

impl Values {
    /// The value of a parameter.
    ///
    /// # Errors
    /// [`Error::Value`] if the text is no value of the type.
    pub fn argument<T: FromStr<Err: Display>>(&self, name: &str) -> Result<T, Error> {
        let text = self.0.iter().find(|value| value.name == name).map_or("", |value| &value.text);
        // Declared values come back as they were; the command line may say powers.
        let parsed = text.parse::<T>().or_else(|error| match power(text).map(|text| text.parse()) {
            Some(Ok(value)) => Ok(value),
            _ => Err(error),
        });
        parsed.map_err(|error| Error::Value {
            axis: name.to_owned(),
            value: text.to_owned(),
            ty: std::any::type_name::<T>(),
            reason: error.to_string(),
        })
    }

    /// The place of a compiled parameter's value among the declared ones.
    pub fn index(&self, name: &str) -> usize {
        self.0.iter().find(|value| value.name == name).and_then(|value| value.index).unwrap_or(usize::MAX)
    }

    pub(crate) fn to_axes(&self) -> Vec<AxisValue> {
        let axis = |value: &Value| AxisValue {
            name: value.name.to_owned(),
            value: power(&value.text).unwrap_or_else(|| value.text.clone()),
        };
        self.0.iter().map(axis).collect()
    }
}

/// The texts of declared values.
pub fn texts<T: Display>(values: impl IntoIterator<Item = T>) -> Vec<String> {
    values.into_iter().map(|value| value.to_string()).collect()
}

/// The number that `2^20` means.
fn power(text: &str) -> Option<String> {
    let (base, exponent) = text.split_once('^')?;
    let number = base.parse::<u128>().ok()?.checked_pow(exponent.parse().ok()?)?;
    Some(number.to_string())
}

/// Values for an axis from the command line: `name=a,b`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Override {
    pub(crate) name: String,
    pub(crate) values: Vec<String>,
}

impl FromStr for Override {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let Some((name, values)) = text.split_once('=') else {
            return Err("an axis is given as `name=value,value`".to_owned());
        };
        let values: Vec<String> = values.split(',').map(|value| value.trim().to_owned()).collect();
        match !name.is_empty() && values.iter().all(|value| !value.is_empty()) {
            true => Ok(Self { name: name.trim().to_owned(), values }),
            false => Err("an axis has a name and values: `name=value,value`".to_owned()),
        }
    }
}

/// All combinations of the values for a device, the last axis fastest.
///
/// # Errors
/// [`Error::NotCompiled`] for a value of a type or constant that is not declared.
pub(crate) fn combinations(
    axes: &[Axis],
    overrides: &[Override],
    device: &Device,
) -> Result<Vec<Values>, Error> {
    let mut rows = vec![Values::default()];
    for axis in axes {
        let declared = (axis.values)(device);
        let asked = overrides.iter().rfind(|given| given.name == axis.name);
        let values: Vec<Value> = match asked {
            None => (0..).zip(declared).map(|(index, text)| value(axis, text, Some(index))).collect(),
            Some(asked) if axis.compiled => {
                let find = |text: &String| {
                    let index = declared.iter().position(|declared| declared == text);
                    index.map(|index| value(axis, text.clone(), Some(index))).ok_or_else(|| {
                        Error::NotCompiled {
                            axis: axis.name.to_owned(),
                            value: text.clone(),
                            declared: declared.clone(),
                        }
                    })
                };
                asked.values.iter().map(find).collect::<Result<_, _>>()?
            }
            Some(asked) => asked.values.iter().map(|text| value(axis, text.clone(), None)).collect(),
        };
        let with = |row: &Values, value: &Value| Values(row.0.iter().chain([value]).cloned().collect());
        rows = rows.iter().flat_map(|row| values.iter().map(|value| with(row, value))).collect();
    }
    Ok(rows)
}

fn value(axis: &Axis, text: String, index: Option<usize>) -> Value {
    Value { name: axis.name, text, index }
}

#[cfg(test)]
mod tests {
    use super::*;

    const AXES: [Axis; 2] = [
        Axis { name: "T", compiled: true, values: |_| texts(["f32", "f64"]) },
        Axis {
            name: "n",
            compiled: false,
            values: |device| texts([if device.is_gpu() { 1 << 20 } else { 16 }, 32_usize]),
        },
    ];

    fn rows(overrides: &[&str]) -> Result<Vec<String>, Error> {
        let overrides: Vec<Override> = overrides.iter().map(|text| text.parse().unwrap()).collect();
        let rows = combinations(&AXES, &overrides, &Device::cpu())?;
        Ok(rows
            .iter()
            .map(|row| {
                let axes = row.to_axes().into_iter().map(|axis| axis.value);
                axes.collect::<Vec<_>>().join(" ")
            })
            .collect())
    }

    #[test]
    fn declared_values_in_all_combinations() {
        assert_eq!(rows(&[]).unwrap(), ["f32 16", "f32 32", "f64 16", "f64 32"]);
    }

    #[test]
    fn the_command_line_overrides() {
        assert_eq!(rows(&["n=7,2^10", "T=f64"]).unwrap(), ["f64 7", "f64 1024"]);
        // The last of two wins, as with other options.
        assert_eq!(rows(&["n=7", "n=8", "T=f64"]).unwrap(), ["f64 8"]);
    }

    #[test]
    fn types_that_are_not_compiled_are_refused() {
        let error = rows(&["T=f16"]).unwrap_err().to_string();
        assert!(error.contains("`f16`") && error.contains("`f32`, `f64`"), "{error}");
    }

    #[test]
    fn arguments_are_parsed() {
        let overrides = ["n=2^10".parse().unwrap()];
        let row = &combinations(&AXES, &overrides, &Device::cpu()).unwrap()[1];
        assert_eq!(row.argument::<usize>("n").unwrap(), 1024);
        assert_eq!(row.index("T"), 1);
        let error = row.argument::<u8>("n").unwrap_err().to_string();
        assert!(error.contains("`2^10`") && error.contains("u8"), "{error}");
    }

    #[test]
    fn malformed_axes_are_refused() {
        for text in ["n", "=3", "n=", "n=1,,2"] {
            assert!(text.parse::<Override>().is_err(), "{text}");
        }
    }
}
