//! Values that kernels send.

/// A value that was sent.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value {
    Bool(bool),
    Char(char),
    Integer(Integer),
    F32(f32),
    F64(f64),
    Text(String),
    /// An array or slice.
    List(Vec<Value>),
    Tuple(Vec<Value>),
    /// A struct with named fields.
    Struct(String, Vec<(String, Value)>),
    /// An `Option`.
    Option(Option<Box<Value>>),
    /// A width or precision, or an unreadable value: only its name is shown.
    Unknown(String),
}

/// An integer of up to 128 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Integer {
    /// The bits; those above `bits` are zero.
    pub(crate) pattern: u128,
    pub(crate) bits: u32,
    pub(crate) signed: bool,
}

impl Integer {
    /// Its value, if it is below zero.
    pub(crate) fn negative(self) -> Option<i128> {
        let unused = 128 - self.bits;
        let value = (self.pattern << unused).cast_signed() >> unused;
        (self.signed && value < 0).then_some(value)
    }
}

impl From<u32> for Value {
    fn from(value: u32) -> Self {
        Self::Integer(Integer { pattern: value.into(), bits: 32, signed: false })
    }
}
