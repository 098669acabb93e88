//! The layout of a core function, as NumPy and Numba write it: `(m,n),(n,p)->(m,p)`.

use syn::{Error, LitStr, Result};

/// The most inputs and outputs, and axes of a core: those of `gpu_std::gufunc`.
pub(crate) const MAX_INPUTS: usize = 8;
pub(crate) const MAX_OUTPUTS: usize = 4;
pub(crate) const MAX_AXES: usize = 3;

/// A core dimension.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Dim {
    /// One with a name, by its number.
    Named(usize),
    /// So many elements.
    Fixed(u32),
}

/// A name, and the input and the axis of its core where it is first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Name {
    pub(crate) text: String,
    pub(crate) input: usize,
    pub(crate) axis: usize,
}

/// A layout.
#[derive(Debug)]
pub(crate) struct Layout {
    /// Without spaces.
    pub(crate) text: String,
    pub(crate) names: Vec<Name>,
    pub(crate) inputs: Vec<Vec<Dim>>,
    pub(crate) outputs: Vec<Vec<Dim>>,
}

impl Layout {
    pub(crate) fn parse(literal: &LitStr) -> Result<Self> {
        let error = |message: String| Error::new(literal.span(), message);
        let text: String = literal.value().split_whitespace().collect();
        let Some((inputs, outputs)) = text.split_once("->") else {
            return Err(error(format!(
                "`{text}` has no `->` between inputs and outputs: a layout is like `(m,n),(n,p)->(m,p)`"
            )));
        };
        let (inputs, outputs) = (cores(inputs).map_err(error)?, cores(outputs).map_err(error)?);
        if inputs.is_empty() || inputs.len() > MAX_INPUTS {
            return Err(error(format!(
                "a core function has one to {MAX_INPUTS} inputs, not {}",
                inputs.len()
            )));
        }
        if outputs.is_empty() || outputs.len() > MAX_OUTPUTS {
            return Err(error(format!(
                "a core function has one to {MAX_OUTPUTS} outputs, not {}",
                outputs.len()
            )));
        }
        let mut layout =
            Self { text: text.clone(), names: Vec::new(), inputs: Vec::new(), outputs: Vec::new() };
        for (input, core) in inputs.into_iter().enumerate() {
            let dims = core.into_iter().enumerate().map(|(axis, dim)| match dim.parse() {
                Ok(extent) => Dim::Fixed(extent),
                Err(_) => Dim::Named(match layout.names.iter().position(|name| name.text == dim) {
                    Some(number) => number,
                    None => {
                        layout.names.push(Name { text: dim.to_owned(), input, axis });
                        layout.names.len() - 1
                    }
                }),
            });
            let dims = dims.collect();
            layout.inputs.push(dims);
        }
        for core in outputs {
            let dims = core.into_iter().map(|dim| match dim.parse() {
                Ok(extent) => Ok(Dim::Fixed(extent)),
                Err(_) => match layout.names.iter().position(|name| name.text == dim) {
                    Some(number) => Ok(Dim::Named(number)),
                    None => Err(error(format!(
                        "`{dim}` is a dimension of outputs only, so that nothing says how large it is: take it from an input, or write a number"
                    ))),
                },
            });
            let dims = dims.collect::<Result<_>>()?;
            layout.outputs.push(dims);
        }
        Ok(layout)
    }

    /// A core as it is written.
    pub(crate) fn core(&self, dims: &[Dim]) -> String {
        let dims = dims.iter().map(|dim| match dim {
            Dim::Named(number) => self.names[*number].text.clone(),
            Dim::Fixed(extent) => extent.to_string(),
        });
        format!("({})", dims.collect::<Vec<_>>().join(","))
    }
}

/// The dimensions of each core of `(m,n),(n,p)`.
fn cores(part: &str) -> core::result::Result<Vec<Vec<&str>>, String> {
    let mut cores = Vec::new();
    let mut rest = part;
    while !rest.is_empty() {
        let core = rest.strip_prefix('(').and_then(|rest| rest.split_once(')'));
        let Some((core, after)) = core else {
            return Err(format!("`{rest}` is not a list of cores such as `(m,n),(n)` or `()`"));
        };
        let dims: Vec<&str> = if core.is_empty() { Vec::new() } else { core.split(',').collect() };
        for dim in &dims {
            let is_name = syn::parse_str::<syn::Ident>(dim).is_ok();
            if !is_name && !dim.parse::<u32>().is_ok_and(|extent| extent <= i32::MAX as u32) {
                return Err(format!(
                    "`{dim}` is not a core dimension, which is a name, or a number of elements below 2³¹"
                ));
            }
        }
        if dims.len() > MAX_AXES {
            return Err(format!(
                "the core `({core})` has {} axes, and at most {MAX_AXES} are possible: kernels index six, with those that are not the core's",
                dims.len()
            ));
        }
        cores.push(dims);
        rest = match after.strip_prefix(',') {
            Some("") => return Err("a core follows a comma".to_owned()),
            Some(after) => after,
            None if after.is_empty() => after,
            None => return Err(format!("a comma is between cores, not `{after}`")),
        };
    }
    Ok(cores)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proc_macro2::Span;

    fn parse(text: &str) -> Result<Layout> {
        Layout::parse(&LitStr::new(text, Span::call_site()))
    }

    #[test]
    fn layouts_are_read_as_numpy_reads_them() {
        let layout = parse(" (m, n),(n,p) -> (m,p) ").expect("a layout");
        assert_eq!(layout.text, "(m,n),(n,p)->(m,p)");
        let name = |text: &str, input, axis| Name { text: text.to_owned(), input, axis };
        assert_eq!(layout.names, [name("m", 0, 0), name("n", 0, 1), name("p", 1, 1)]);
        assert_eq!(
            layout.inputs,
            [[Dim::Named(0), Dim::Named(1)].to_vec(), [Dim::Named(1), Dim::Named(2)].to_vec()]
        );
        assert_eq!(layout.outputs, [[Dim::Named(0), Dim::Named(2)]]);
        assert_eq!(layout.core(&layout.inputs[1]), "(n,p)");
        let layout = parse("(n),()->(),(3)").expect("a layout");
        assert_eq!(layout.inputs, [vec![Dim::Named(0)], Vec::new()]);
        assert_eq!(layout.outputs, [Vec::new(), vec![Dim::Fixed(3)]]);
    }

    #[test]
    fn what_is_no_layout_is_refused() {
        for (text, message) in [
            ("(n),(n)", "no `->`"),
            ("n->(n)", "`n` is not a list of cores"),
            ("(n->(n)", "`(n` is not a list of cores"),
            ("(n)(m)->(n)", "a comma is between cores, not `(m)`"),
            ("(n),->(n)", "a core follows a comma"),
            ("(n,)->(n)", "`` is not a core dimension"),
            ("(n-1)->(n)", "`n-1` is not a core dimension"),
            ("(4294967295)->()", "below 2³¹"),
            ("(a,b,c,d)->()", "has 4 axes, and at most 3"),
            ("->(n)", "one to 8 inputs, not 0"),
            ("(),(),(),(),(),(),(),(),()->()", "one to 8 inputs, not 9"),
            ("(n)->", "one to 4 outputs, not 0"),
            ("(n)->(),(),(),(),()", "one to 4 outputs, not 5"),
            ("(n)->(m)", "`m` is a dimension of outputs only"),
        ] {
            let error = parse(text).expect_err("it is refused").to_string();
            assert!(error.contains(message), "{error}");
        }
    }
}
