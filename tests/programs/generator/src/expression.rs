//! Expressions of scalar types.
//!
//! What Rust leaves open is left out: the sign and payload of a NaN, and which of two zeros is the smaller one. Plain arithmetic that
//! may overflow is left out too, because dev builds panic where release builds go on.

use crate::{
    program::Program,
    types::{
        Scalar::{self, *},
        Type,
    },
};

impl Program {
    /// An expression in parentheses where it needs them.
    pub(crate) fn expression(&mut self, ty: Scalar, depth: usize) -> String {
        self.fuel -= 1;
        if depth == 0 || self.fuel < 0 || self.random.once_in(6) {
            return self.leaf(ty);
        }
        if self.random.once_in(3)
            && let Some(text) = (0..2).find_map(|_| self.part(ty, depth - 1))
        {
            return text;
        }
        let text = match ty {
            Bool => self.condition(depth - 1),
            F32 | F64 => self.float(ty, depth - 1),
            _ => self.integer(ty, depth - 1),
        };
        format!("({text})")
    }

    /// A variable or a constant.
    pub(crate) fn leaf(&mut self, ty: Scalar) -> String {
        if self.random.once_in(6) {
            return self.constant(ty);
        }
        if let Some(variable) = self.variable(|variable| variable.ty == Type::Scalar(ty)) {
            return variable.name;
        }
        // None of this type: one of another.
        match self.variable(|variable| matches!(variable.ty, Type::Scalar(scalar) if scalar != Bool)) {
            Some(variable) if ty == Bool => format!("({} > {})", variable.name, variable.zero()),
            Some(variable) => format!("({} as {})", variable.name, ty.name()),
            None => self.constant(ty),
        }
    }

    /// A number that is the same for this many threads, of type `u32`.
    pub(crate) fn uniform_expression(&mut self, lanes: u32) -> String {
        let variable = |program: &mut Self| {
            program
                .variable(|variable| {
                    variable.uniform >= lanes && matches!(variable.ty, Type::Scalar(ty) if ty.is_integer())
                })
                .map_or_else(|| program.constant(U32), |variable| format!("({} as u32)", variable.name))
        };
        let first = variable(self);
        if lanes <= 32 && self.random.once_in(2) {
            self.reach("bound per group of lanes");
            return format!("(thread_rank() / {lanes}).wrapping_add({first})");
        }
        match self.random.below(3) {
            0 => first,
            1 => format!("{first}.wrapping_mul({})", self.constant(U32)),
            _ => {
                let second = variable(self);
                format!("({first} ^ {second})")
            }
        }
    }

    fn condition(&mut self, depth: usize) -> String {
        if self.random.once_in(3) {
            self.reach("logic");
            let (a, b) = (self.expression(Bool, depth), self.expression(Bool, depth));
            let operator = self.random.of(&["&&", "||", "^", "==", "&", "|", "!="]);
            return format!("{a} {operator} {b}");
        }
        let ty = Scalar::number(&mut self.random);
        let a = self.expression(ty, depth);
        if ty.is_float() && self.random.once_in(4) {
            self.reach("float class");
            return format!("{a}.{}()", self.random.of(&["is_nan", "is_finite", "is_infinite"]));
        }
        let b = self.expression(ty, depth);
        if self.random.once_in(8) {
            self.reach("range contains");
            return match ty.is_float() {
                true => format!("(0.5..16.0).contains(&{a})"),
                false => format!("({a}..={b}).contains(&{})", self.leaf(ty)),
            };
        }
        self.reach("comparison");
        let operator = self.random.of(&["<", "<=", ">", ">=", "==", "!="]);
        format!("{a} {operator} {b}")
    }

    fn integer(&mut self, ty: Scalar, depth: usize) -> String {
        let name = ty.name();
        let wide = ty.bits() == 128;
        let a = self.expression(ty, depth);
        let choice = self.random.below(26);
        // One operand.
        match choice {
            0 => {
                self.reach("not");
                return format!("!{a}");
            }
            1 => {
                self.reach("bit count");
                let count = self.random.of(&[
                    "count_ones",
                    "leading_zeros",
                    "trailing_zeros",
                    "count_zeros",
                    "leading_ones",
                    "trailing_ones",
                ]);
                return format!("{a}.{count}() as {name}");
            }
            2 => {
                self.reach("reversal");
                return format!("{a}.{}()", self.random.of(&["reverse_bits", "swap_bytes"]));
            }
            3 if ty.is_signed() => {
                self.reach("sign");
                return match self.random.below(4) {
                    0 => format!("{a}.unsigned_abs() as {name}"),
                    _ => format!("{a}.{}()", self.random.of(&["wrapping_abs", "wrapping_neg", "signum"])),
                };
            }
            3 => {
                self.reach("power of two");
                return match self.random.below(3) {
                    0 => format!("{a}.is_power_of_two() as {name}"),
                    1 => format!("{a}.checked_next_power_of_two().unwrap_or({a})"),
                    _ => format!("{a}.checked_ilog2().map_or(7, |bits| bits as {name})"),
                };
            }
            4..=7 => {
                self.reach("cast");
                let from = Scalar::any(&mut self.random);
                return match from {
                    Bool => format!("({} as u8) as {name}", self.expression(Bool, depth)),
                    _ => format!("{} as {name}", self.expression(from, depth)),
                };
            }
            8 => {
                self.reach("shift by a constant");
                let operator = self.random.of(&["<<", ">>"]);
                return format!("{a} {operator} {}", self.random.below(ty.bits() as usize));
            }
            9 => {
                self.reach("shift");
                let shift = self.expression(U32, depth.saturating_sub(1));
                return match self.random.below(5) {
                    0 => format!("{a}.checked_shl({shift}).unwrap_or({name}::MAX)"),
                    _ => {
                        let operation =
                            self.random.of(&["wrapping_shl", "wrapping_shr", "rotate_left", "rotate_right"]);
                        format!("{a}.{operation}({shift})")
                    }
                };
            }
            10 => {
                self.reach("power");
                return format!("{a}.wrapping_pow({})", self.random.below(6));
            }
            11 => {
                self.reach("bytes");
                return match self.random.below(2) {
                    0 => format!("{name}::from_le_bytes({a}.to_be_bytes())"),
                    _ => format!(
                        "({a}.to_ne_bytes()[{}] as {name})",
                        self.random.below(ty.bits() as usize / 8)
                    ),
                };
            }
            12 => {
                self.reach("division by a constant");
                let divisor = 2 + self.random.below(if ty.bits() == 8 { 100 } else { 1000 }.min(120));
                let operator = self.random.of(&["/", "%"]);
                return format!("{a} {operator} {divisor}");
            }
            _ => {}
        }
        let b = self.expression(ty, depth);
        match choice {
            13..=15 => {
                self.reach("wrapping arithmetic");
                format!("{a}.{}({b})", self.random.of(&["wrapping_add", "wrapping_sub", "wrapping_mul"]))
            }
            16 if wide && !self.random.once_in(4) => format!("{a} ^ {b}"),
            16 => {
                self.reach("division");
                match self.random.below(5) {
                    0 => format!("{a}.checked_div({b}).unwrap_or({a})"),
                    1 => format!("{a}.checked_rem({b}).unwrap_or({b})"),
                    2 => format!("{a}.checked_rem_euclid({b}).unwrap_or({b})"),
                    3 => format!("{a}.checked_div_euclid({b}).unwrap_or({a})"),
                    _ => format!("{a}.wrapping_div({b} | 1)"),
                }
            }
            17 | 18 => {
                self.reach("bit logic");
                format!("{a} {} {b}", self.random.of(&["&", "|", "^"]))
            }
            19 => {
                self.reach("min and max");
                format!("{a}.{}({b})", self.random.of(&["min", "max"]))
            }
            20 => {
                self.reach("saturating arithmetic");
                let operation = self.random.of(&["saturating_add", "saturating_sub", "saturating_mul"]);
                format!("{a}.{operation}({b})")
            }
            21 => {
                self.reach("checked arithmetic");
                let operation = self.random.of(&["checked_add", "checked_sub", "checked_mul"]);
                match self.random.below(3) {
                    0 => format!("{a}.{operation}({b}).unwrap_or({b})"),
                    1 => format!("{a}.{operation}({b}).map_or({a}, |value| value ^ 1)"),
                    _ => format!("if let Some(value) = {a}.{operation}({b}) {{ value }} else {{ {b} }}"),
                }
            }
            22 => {
                self.reach("overflowing arithmetic");
                let operation = self.random.of(&["overflowing_add", "overflowing_sub", "overflowing_mul"]);
                match self.random.below(2) {
                    0 => format!("{a}.{operation}({b}).1 as {name}"),
                    _ => format!(
                        "{{ let (value, over) = {a}.{operation}({b}); if over {{ !value }} else {{ value }} }}"
                    ),
                }
            }
            23 => {
                self.reach("difference");
                format!("{a}.abs_diff({b}) as {name}")
            }
            24 if ty.bits() <= 64 => {
                self.reach("wide product");
                let wide = if ty.bits() == 64 { "i128" } else { "i64" };
                let shift = 1 + self.random.below(40.min(2 * ty.bits() as usize - 2));
                format!("(({a} as {wide}).wrapping_mul({b} as {wide}) >> {shift}) as {name}")
            }
            _ => {
                self.reach("if expression");
                let condition = self.expression(Bool, depth);
                format!("if {condition} {{ {a} }} else {{ {b} }}")
            }
        }
    }

    fn float(&mut self, ty: Scalar, depth: usize) -> String {
        let name = ty.name();
        let a = self.expression(ty, depth);
        match self.random.below(19) {
            0..=3 => {
                self.reach("float sum");
                format!("{a} {} {}", self.random.of(&["+", "-"]), self.expression(ty, depth))
            }
            4..=6 if self.contracts => {
                // A product and a sum may become one operation.
                self.reach("float quotient");
                format!("{a} / {}", self.expression(ty, depth))
            }
            4..=6 => {
                self.reach("float product");
                format!("{a} * {}", self.expression(ty, depth))
            }
            7 => {
                self.reach("float quotient");
                format!("{a} / {}", self.expression(ty, depth))
            }
            8 if self.random.once_in(2) => {
                self.reach("float remainder");
                format!("{a} % {}", self.expression(ty, depth))
            }
            8 | 9 => {
                self.reach("mul_add");
                let (b, c) = (self.expression(ty, depth), self.expression(ty, depth));
                format!("{a}.mul_add({b}, {c})")
            }
            10 => {
                self.reach("square root");
                format!("{a}.abs().sqrt()")
            }
            11 => {
                self.reach("rounding");
                let operation =
                    self.random.of(&["floor", "ceil", "trunc", "round", "round_ties_even", "fract"]);
                format!("{a}.{operation}()")
            }
            12 => {
                self.reach("float min and max");
                let operation = self.random.of(&["min", "max"]);
                // Which of two zeros comes out is open.
                format!("{a}.{operation}({}) + 0.0", self.expression(ty, depth))
            }
            13 => {
                self.reach("float sign");
                match self.random.below(2) {
                    0 => format!("-{a}"),
                    _ => format!("{a}.abs()"),
                }
            }
            14 => {
                self.reach("float bits");
                let mask = 1_u64 << self.random.below(ty.bits() as usize - 2);
                format!("{name}::from_bits(bits_of_{name}({a}) ^ {mask})")
            }
            15 => {
                self.reach("if expression");
                let (condition, b) = (self.expression(Bool, depth), self.expression(ty, depth));
                format!("if {condition} {{ {a} }} else {{ {b} }}")
            }
            _ => {
                self.reach("cast to float");
                match Scalar::number(&mut self.random) {
                    U128 | I128 if !self.random.once_in(4) => {
                        format!("{} as {name}", self.expression(I32, depth))
                    }
                    from => format!("{} as {name}", self.expression(from, depth)),
                }
            }
        }
    }

    /// A part of something larger than a scalar, or what a function makes of scalars.
    fn part(&mut self, ty: Scalar, depth: usize) -> Option<String> {
        let name = ty.name();
        match self.random.below(12) {
            0 | 1 => {
                let variable = self
                    .variable(|variable| matches!(variable.ty, Type::Array(element, _) if element == ty))?;
                let Type::Array(_, len) = variable.ty else { return None };
                let index = self.expression(Usize, depth.min(1));
                Some(match self.random.below(3) {
                    0 => {
                        self.reach("array get");
                        format!("{}.get({index}).copied().unwrap_or({})", variable.name, self.constant(ty))
                    }
                    _ => {
                        self.reach("array index");
                        format!("{}[{index} % {len}]", variable.name)
                    }
                })
            }
            2 => {
                let variable = self.variable(|variable| variable.ty == Type::Option(ty))?;
                self.reach("option");
                let other = self.expression(ty, depth);
                let text = match self.random.below(3) {
                    0 => format!("{}.unwrap_or({other})", variable.name),
                    1 => format!("if let Some(some) = {} {{ some }} else {{ {other} }}", variable.name),
                    _ => format!("{}.xor(Some({other})).unwrap_or_default()", variable.name),
                };
                Some(format!("({text})"))
            }
            3 => {
                let variable = self.variable(
                    |variable| matches!(variable.ty, Type::Pair(first, second) if first == ty || second == ty),
                )?;
                self.reach("tuple field");
                let Type::Pair(first, _) = variable.ty else { return None };
                Some(format!("{}.{}", variable.name, if first == ty { 0 } else { 1 }))
            }
            4 | 5 => {
                let fields = self.record.clone();
                let field = fields.iter().position(|field| *field == ty)?;
                let variable = self.variable(|variable| variable.ty == Type::Struct)?;
                self.reach("struct field");
                Some(format!("{}.f{field}", variable.name))
            }
            6 | 7 => {
                let of_type: Vec<_> =
                    self.helpers.iter().filter(|helper| helper.returns == ty).cloned().collect();
                if of_type.is_empty() {
                    return None;
                }
                let helper = &of_type[self.random.below(of_type.len())];
                self.reach(helper.kind);
                let arguments: Vec<_> =
                    helper.parameters.iter().map(|ty| self.expression(*ty, depth.min(1))).collect();
                Some(format!("{}({})", helper.name, arguments.join(", ")))
            }
            8 if ty.is_integer() => Some(self.fold(ty)),
            9 => {
                self.reach("match expression");
                let (on, bits) = (self.expression(U8, depth), 1 + self.random.below(3));
                let arms: Vec<_> = (0..3).map(|_| self.expression(ty, depth.min(1))).collect();
                Some(format!(
                    "(match {on} >> {bits} {{ 0 | 3 => {}, 4..=20 => {}, _ => {} }})",
                    arms[0], arms[1], arms[2]
                ))
            }
            10 => {
                self.reach("block expression");
                let inner = Scalar::any(&mut self.random);
                let value = self.expression(inner, depth);
                let local = self.fresh("t");
                self.declare(&local, Type::Scalar(inner), false);
                let result = self.expression(ty, depth);
                self.forget();
                Some(format!("({{ let {local}: {} = {value}; {result} }})", inner.name()))
            }
            _ => {
                let table = self.tables.iter().find(|(element, ..)| *element == ty).cloned();
                let (_, table, len) = table?;
                self.reach("constant table");
                let index = self.expression(Usize, depth.min(1));
                Some(format!("({table}[{index} % {len}] as {name})"))
            }
        }
    }

    /// An iterator that is folded.
    fn fold(&mut self, ty: Scalar) -> String {
        let name = ty.name();
        let array =
            self.variable(|variable| matches!(variable.ty, Type::Array(element, _) if element.is_integer()));
        let combine = self.random.of(&[
            "acc ^ x",
            "acc.wrapping_add(x)",
            "acc.wrapping_mul(3).wrapping_sub(x)",
            "acc.max(x)",
        ]);
        let Some(array) = array else {
            self.reach("fold over a range");
            let (end, start) = (self.leaf(U8), self.leaf(ty));
            let adapter =
                self.random.of(&["", ".rev()", ".step_by(2)", ".skip(1)", ".filter(|k| k % 3 != 1)"]);
            return format!("(0..{end} % 7){adapter}.map(|k| k as {name}).fold({start}, |acc, x| {combine})");
        };
        let start = self.leaf(ty);
        let array = array.name;
        let numbers = match self.random.below(8) {
            0 => {
                self.reach("chunks");
                format!("{array}.chunks({}).map(|chunk| chunk[chunk.len() - 1])", 1 + self.random.below(3))
            }
            1 => {
                self.reach("windows");
                format!("{array}.windows(2).map(|pair| pair[0] ^ pair[1])")
            }
            2 => {
                self.reach("zip");
                format!("{array}.iter().zip({array}.iter().rev()).map(|(a, b)| *a & *b)")
            }
            3 => {
                self.reach("enumerate");
                format!("{array}.iter().enumerate().filter(|(k, _)| k % 2 == 0).map(|(_, x)| *x)")
            }
            4 => {
                self.reach("step_by");
                format!("{array}.iter().rev().step_by(2).copied()")
            }
            5 => {
                self.reach("take_while");
                format!("{array}.iter().copied().take_while(|x| *x % 5 != 3)")
            }
            6 => {
                self.reach("scan");
                format!(
                    "{array}.into_iter().scan(1_u32, |n, x| {{ *n = n.wrapping_mul(3) ^ x as u32; Some(*n) }})"
                )
            }
            _ => {
                self.reach("chain");
                format!("{array}.into_iter().chain({array}.into_iter().skip(1))")
            }
        };
        format!("{numbers}.fold({start}, |acc, x| {{ let x = x as {name}; {combine} }})")
    }

    pub(crate) fn constant(&mut self, ty: Scalar) -> String {
        let name = ty.name();
        match ty {
            Bool => self.random.once_in(2).to_string(),
            F32 | F64 => {
                let value = self.random.of(&[
                    "0.0",
                    "1.0",
                    "0.1",
                    "2.5",
                    "3e10",
                    "1e-30",
                    "16777217.0",
                    "0.75",
                    "255.5",
                ]);
                format!("{value}_{name}")
            }
            _ => match self.random.below(4) {
                0 => format!("{name}::{}", self.random.of(&["MAX", "MIN"])),
                1 => format!("{}_{name}", self.random.below(128)),
                _ => {
                    let bits = self.random.next() >> self.random.below(64);
                    let largest = match ty.bits() {
                        128 => u64::MAX,
                        bits => u64::MAX >> (64 - bits + u32::from(ty.is_signed())),
                    };
                    format!("{}_{name}", bits & largest)
                }
            },
        }
    }
}
