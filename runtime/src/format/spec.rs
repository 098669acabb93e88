//! Format specs: the part of a placeholder between `:` and `}`.

/// The trait of `std::fmt` that formats the value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Style {
    #[default]
    Display,
    Debug,
    LowerHex,
    UpperHex,
    Octal,
    Binary,
    LowerExp,
    UpperExp,
    Pointer,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Align {
    Left,
    Center,
    Right,
}

/// `{:x?}` and `{:X?}`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DebugHex {
    Lower,
    Upper,
}

/// A format spec.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Spec {
    pub(crate) style: Style,
    pub(crate) fill: char,
    pub(crate) align: Option<Align>,
    /// `+`
    pub(crate) plus: bool,
    /// `#`
    pub(crate) alternate: bool,
    /// `0`
    pub(crate) zero: bool,
    pub(crate) width: usize,
    pub(crate) precision: Option<usize>,
    pub(crate) debug_hex: Option<DebugHex>,
}

impl Default for Spec {
    fn default() -> Self {
        Self {
            style: Style::Display,
            fill: ' ',
            align: None,
            plus: false,
            alternate: false,
            zero: false,
            width: 0,
            precision: None,
            debug_hex: None,
        }
    }
}

impl Style {
    /// The style of a trait in `core::fmt`.
    pub(crate) fn of_trait(name: &str) -> Option<Self> {
        Some(match name {
            "Display" => Self::Display,
            "Debug" => Self::Debug,
            "LowerHex" => Self::LowerHex,
            "UpperHex" => Self::UpperHex,
            "Octal" => Self::Octal,
            "Binary" => Self::Binary,
            "LowerExp" => Self::LowerExp,
            "UpperExp" => Self::UpperExp,
            "Pointer" => Self::Pointer,
            _ => return None,
        })
    }
}
