//! Statements that every kind of program has.

use crate::{
    Kind,
    program::{Loop, Program},
    types::{Scalar, Type},
};

/// Statements inside of more than so many others are plain.
const DEEPEST: usize = 4;

impl Program {
    pub(crate) fn statements(&mut self, count: usize) {
        for _ in 0..count {
            if self.fuel <= 0 {
                return;
            }
            self.statement();
        }
    }

    fn statement(&mut self) {
        self.fuel -= 1;
        let own = match self.kind {
            Kind::Scalar | Kind::Panics => false,
            _ => self.random.once_in(3),
        };
        if own && self.statement_of_kind() {
            return;
        }
        if !self.loops.is_empty() && self.random.once_in(6) {
            return self.leave();
        }
        if self.lanes > 1 && self.random.once_in(4) && self.nesting < DEEPEST {
            return self.uniform_branch();
        }
        match self.random.below(26) {
            0..=3 => self.assign(),
            4 | 5 => self.compound_assign(),
            6 => self.let_scalar(),
            7 => self.let_aggregate(),
            8..=10 if self.nesting < DEEPEST => self.branch(),
            11 | 12 if self.nesting < DEEPEST => self.counted_loop(),
            13 if self.nesting < DEEPEST => self.open_loop(),
            14 if self.nesting < DEEPEST => self.match_statement(),
            15 => self.array_statement(),
            16 => self.array_loop(),
            17 => self.aggregate_statement(),
            18 => self.reference(),
            19 => self.closure(),
            20 => self.leave(),
            21 => self.early_return(),
            22 => self.aggregate_statement(),
            23 => self.array_loop(),
            24 if self.nesting < DEEPEST => self.match_statement(),
            _ => self.assign(),
        }
    }

    pub(crate) fn assign(&mut self) {
        let Some((variable, ty)) = self.target(|_| true) else { return self.let_scalar() };
        let value = self.expression(ty, 3);
        self.reach("assignment");
        self.line(&format!("{variable} = {value};"));
    }

    fn compound_assign(&mut self) {
        let Some((variable, ty)) = self.target(|ty| ty != Scalar::F32) else { return self.assign() };
        let value = self.expression(ty, 2);
        self.reach("compound assignment");
        let operator = match ty {
            Scalar::F64 if self.contracts => self.random.of(&["+=", "-="]),
            Scalar::F64 => self.random.of(&["+=", "-=", "*="]),
            _ => self.random.of(&["^=", "|=", "&="]),
        };
        self.line(&format!("{variable} {operator} {value};"));
    }

    pub(crate) fn let_scalar(&mut self) {
        let ty = Scalar::any(&mut self.random);
        let value = self.expression(ty, 3);
        let name = self.fresh("v");
        self.reach("let");
        self.line(&format!("let mut {name}: {} = {value};", ty.name()));
        self.declare(&name, Type::Scalar(ty), true);
    }

    /// An array, option, tuple, struct or enum.
    pub(crate) fn let_aggregate(&mut self) {
        let some = Scalar::any(&mut self.random);
        let ty = match self.random.below(8) {
            0..=2 => Type::Array(some, 2 + self.random.below(5)),
            3 => Type::Option(some),
            4 => Type::Pair(some, Scalar::any(&mut self.random)),
            5 | 6 if !self.record.is_empty() => Type::Struct,
            _ if !self.choice.is_empty() => Type::Enum,
            _ => Type::Array(Scalar::U32, 4),
        };
        let value = self.aggregate(ty);
        let name = self.fresh("a");
        self.line(&format!("let mut {name}: {ty} = {value};"));
        self.declare(&name, ty, true);
    }

    /// A value of a type that is no scalar.
    fn aggregate(&mut self, ty: Type) -> String {
        match ty {
            Type::Scalar(ty) => self.expression(ty, 2),
            Type::Array(element, len) => match self.random.below(3) {
                0 => {
                    self.reach("repeated array");
                    format!("[{}; {len}]", self.expression(element, 2))
                }
                1 if element.is_integer() => {
                    self.reach("array from a function");
                    let (first, step) = (self.leaf(element), self.leaf(element));
                    let name = element.name();
                    format!(
                        "core::array::from_fn(|k| {first}.wrapping_add({step}.wrapping_mul(k as {name})))"
                    )
                }
                _ => {
                    self.reach("array");
                    let elements: Vec<_> = (0..len).map(|_| self.expression(element, 1)).collect();
                    format!("[{}]", elements.join(", "))
                }
            },
            Type::Option(some) => {
                let (condition, value) = (self.expression(Scalar::Bool, 2), self.expression(some, 2));
                self.reach("option of a condition");
                format!("{condition}.then_some({value})")
            }
            Type::Pair(first, second) => {
                self.reach("tuple");
                format!("({}, {})", self.expression(first, 2), self.expression(second, 2))
            }
            Type::Struct => {
                self.reach("struct");
                let fields: Vec<_> = self
                    .record
                    .clone()
                    .into_iter()
                    .enumerate()
                    .map(|(i, field)| format!("f{i}: {}", self.expression(field, 1)))
                    .collect();
                format!("Record {{ {} }}", fields.join(", "))
            }
            Type::Enum => {
                self.reach("enum");
                let variants = self.choice.clone();
                let chosen = self.random.below(variants.len());
                let value = self.expression(variants[chosen], 2);
                let condition = self.expression(Scalar::Bool, 2);
                let other = self.random.below(variants.len());
                let another = self.expression(variants[other], 1);
                match self.random.below(2) {
                    0 => format!("if {condition} {{ Choice::C{chosen}({value}) }} else {{ Choice::None }}"),
                    _ => format!(
                        "if {condition} {{ Choice::C{chosen}({value}) }} else {{ Choice::C{other}({another}) }}"
                    ),
                }
            }
        }
    }

    fn branch(&mut self) {
        let condition = self.expression(Scalar::Bool, 2);
        self.line(&format!("if {condition} {{"));
        let count = 1 + self.random.below(2);
        self.nested_with(1, |program| program.statements(count));
        match self.random.below(4) {
            0 => self.reach("if"),
            1 | 2 => {
                self.reach("if else");
                self.line("} else {");
                self.nested_with(1, |program| program.statements(1));
            }
            _ => {
                self.reach("else if");
                let condition = self.expression(Scalar::Bool, 2);
                self.line(&format!("}} else if {condition} {{"));
                self.nested_with(1, |program| program.statements(1));
                self.line("} else {");
                self.nested_with(1, |program| program.statements(1));
            }
        }
        self.line("}");
    }

    fn loop_body(&mut self, label: String, count: usize) {
        self.loops.push(Loop { label, lanes: 1, has_value: false });
        self.nested_with(1, |program| program.statements(count));
        self.loops.pop();
    }

    fn label(&mut self) -> String {
        if self.random.once_in(2) { self.fresh("'l") } else { String::new() }
    }

    /// A loop over a range whose bounds differ by thread.
    fn counted_loop(&mut self) {
        let ty = Scalar::integer(&mut self.random);
        let (start, end) = (self.leaf(ty), self.expression(ty, 1));
        let label = self.label();
        let prefix = if label.is_empty() { String::new() } else { format!("{label}: ") };
        let counter = self.fresh("k");
        let times = 2 + self.random.below(6);
        let range = match self.random.below(6) {
            0 => {
                self.reach("range from a start");
                // Never past the end of the type.
                format!("({start} / 2)..({start} / 2) + ({end} & 3)")
            }
            1 => {
                self.reach("inclusive range");
                format!("0..=({end} & 3)")
            }
            2 => {
                self.reach("reversed range");
                format!("(0..({end} & 7)).rev()")
            }
            3 => {
                self.reach("stepped range");
                format!("(0..({end} & 15)).step_by({})", 1 + self.random.below(4))
            }
            _ => {
                self.reach("range");
                format!("0..{end} % {times}")
            }
        };
        self.line(&format!("{prefix}for {counter} in {range} {{"));
        self.declare(&counter, Type::Scalar(ty), false);
        let count = 1 + self.random.below(2);
        self.loop_body(label, count);
        self.forget();
        self.line("}");
    }

    /// A loop that ends by a condition, and by a count in any case.
    fn open_loop(&mut self) {
        let counter = self.fresh("n");
        let condition = self.expression(Scalar::Bool, 2);
        let times = 2 + self.random.below(6);
        let label = self.label();
        let prefix = if label.is_empty() { String::new() } else { format!("{label}: ") };
        self.line(&format!("let mut {counter} = 0_u32;"));
        match self.random.below(3) {
            0 => {
                self.reach("loop");
                self.line(&format!("{prefix}loop {{"));
                self.line(&format!("    {counter} += 1;"));
                self.line(&format!("    if {counter} > {times} || {condition} {{ break; }}"));
            }
            1 => {
                self.reach("loop with a value");
                let ty = Scalar::any(&mut self.random);
                let (found, value, other) = (self.fresh("v"), self.expression(ty, 1), self.expression(ty, 1));
                self.line(&format!("let mut {found}: {} = {prefix}loop {{", ty.name()));
                self.line(&format!("    {counter} += 1;"));
                self.line(&format!("    if {counter} > {times} {{ break {value}; }}"));
                self.loops.push(Loop { label: String::new(), lanes: 1, has_value: true });
                self.nested_with(1, |program| program.statements(1));
                self.loops.pop();
                let condition = self.expression(Scalar::Bool, 2);
                self.line(&format!("    if {condition} {{ break {other}; }}"));
                self.line("};");
                self.declare(&found, Type::Scalar(ty), true);
                return;
            }
            _ => {
                self.reach("while");
                self.line(&format!("{prefix}while {counter} < {times} && {condition} {{"));
                self.line(&format!("    {counter} += 1;"));
            }
        }
        self.declare(&counter, Type::Scalar(Scalar::U32), false);
        let count = 1 + self.random.below(2);
        self.loop_body(label, count);
        self.forget();
        self.line("}");
    }

    fn match_statement(&mut self) {
        if !self.choice.is_empty()
            && let Some(variable) = self.variable(|variable| variable.ty == Type::Enum)
        {
            self.reach("match on an enum");
            self.line(&format!("match {} {{", variable.name));
            for (i, ty) in self.choice.clone().into_iter().enumerate() {
                let bound = self.fresh("b");
                self.line(&format!("    Choice::C{i}({bound}) => {{"));
                self.nested_with(1, |program| {
                    program.declare(&bound, Type::Scalar(ty), false);
                    program.statements(1);
                });
                self.line("    }");
            }
            self.line("    Choice::None => {}");
            return self.line("}");
        }
        if let Some(variable) = self.variable(|variable| matches!(variable.ty, Type::Option(_)))
            && let Type::Option(some) = variable.ty
        {
            let bound = self.fresh("b");
            self.reach("if let");
            self.line(&format!("if let Some({bound}) = {} {{", variable.name));
            self.nested_with(1, |program| {
                program.declare(&bound, Type::Scalar(some), false);
                program.statements(1);
            });
            return self.line("}");
        }
        let (on, guard) = (self.expression(Scalar::U8, 2), self.expression(Scalar::Bool, 1));
        self.reach("match");
        self.line(&format!("match {on} {{"));
        for pattern in ["0 | 7", "1..=30", &format!("200.. if {guard}"), "_"] {
            self.line(&format!("    {pattern} => {{"));
            self.nested_with(1, |program| program.statements(1));
            self.line("    }");
        }
        self.line("}");
    }

    fn array_statement(&mut self) {
        let array = self.variable(|variable| variable.mutable && matches!(variable.ty, Type::Array(..)));
        let Some((name, element, len)) = array.and_then(|array| match array.ty {
            Type::Array(element, len) => Some((array.name, element, len)),
            _ => None,
        }) else {
            return self.let_aggregate();
        };
        let index = self.expression(Scalar::Usize, 2);
        let text = match self.random.below(9) {
            0 => {
                self.reach("swap");
                format!("{{ let index = {index} % {len}; {name}.swap(index, {}); }}", self.random.below(len))
            }
            1 => {
                self.reach("reverse");
                format!("{name}.reverse();")
            }
            2 => {
                self.reach("rotate");
                format!("{{ let index = {index} % {len}; {name}.rotate_left(index); }}")
            }
            3 => {
                self.reach("copy_within");
                format!("{name}.copy_within(..{}, {});", len / 2, len - len / 2)
            }
            4 => {
                self.reach("array get_mut");
                let value = self.expression(element, 2);
                format!(
                    "{{ let (index, value) = ({index}, {value}); if let Some(element) = {name}.get_mut(index) {{ *element = value; }} }}"
                )
            }
            5 => {
                self.reach("split_at_mut");
                let at = 1 + self.random.below(len - 1);
                format!("{{ let (low, high) = {name}.split_at_mut({at}); low[0] = high[0]; }}")
            }
            _ => {
                self.reach("array store");
                let value = self.expression(element, 2);
                format!("{name}[{index} % {len}] = {value};")
            }
        };
        self.line(&text);
    }

    fn array_loop(&mut self) {
        let array = self.variable(
            |variable| matches!(variable.ty, Type::Array(element, _) if element.is_integer() && variable.mutable),
        );
        let Some((name, element, len)) = array.and_then(|array| match array.ty {
            Type::Array(element, len) => Some((array.name, element, len)),
            _ => None,
        }) else {
            return self.let_aggregate();
        };
        let bound = self.fresh("e");
        match self.random.below(4) {
            0 => {
                self.reach("iter_mut");
                let value = self.expression(element, 2);
                self.line(&format!("let value = {value};"));
                self.line(&format!("for {bound} in &mut {name} {{ *{bound} ^= value; }}"));
            }
            1 => {
                self.reach("subslice");
                let (from, value) = (self.expression(Scalar::Usize, 1), self.expression(element, 2));
                self.line(&format!("let (start, value) = ({from} % {len}, {value});"));
                self.line(&format!(
                    "for {bound} in &mut {name}[start..] {{ *{bound} = {bound}.wrapping_add(value); }}"
                ));
            }
            2 => {
                self.reach("iterator by hand");
                let Some((variable, ty)) = self.target(Scalar::is_integer) else { return };
                let condition = self.expression(Scalar::Bool, 2);
                let (rest, ty) = (self.fresh("r"), ty.name());
                self.line(&format!("let mut {rest} = {name}.into_iter();"));
                self.line(&format!("while let Some({bound}) = {rest}.next() {{"));
                self.line(&format!("    {variable} = {variable}.wrapping_mul(5) ^ {bound} as {ty};"));
                self.line(&format!("    if {condition} {{ {rest}.next(); }}"));
                self.line("}");
            }
            _ => {
                self.reach("for over an array");
                self.line(&format!("for {bound} in {name} {{"));
                self.declare(&bound, Type::Scalar(element), false);
                self.loop_body(String::new(), 1);
                self.forget();
                self.line("}");
            }
        }
    }

    /// Changes a struct, an option, an enum or a tuple.
    fn aggregate_statement(&mut self) {
        let variable = self.variable(|variable| {
            variable.mutable && !matches!(variable.ty, Type::Scalar(_) | Type::Array(..))
        });
        let Some(variable) = variable else { return self.let_aggregate() };
        let name = variable.name;
        match variable.ty {
            Type::Struct => {
                let field = self.random.below(self.record.len());
                let value = self.expression(self.record[field], 2);
                match self.random.below(3) {
                    0 => {
                        self.reach("struct update");
                        self.line(&format!("{name} = Record {{ f{field}: {value}, ..{name} }};"));
                    }
                    1 => {
                        self.reach("method");
                        let (by, unsigned) = (self.expression(Scalar::U32, 1), Scalar::U32);
                        if let Some((target, _)) = self.target(|ty| ty == unsigned) {
                            self.line(&format!("{target} = {name}.mix({by});"));
                        }
                    }
                    _ => {
                        self.reach("field assignment");
                        self.line(&format!("{name}.f{field} = {value};"));
                    }
                }
            }
            Type::Pair(first, second) => {
                self.reach("destructuring");
                let (a, b) = (self.fresh("d"), self.fresh("d"));
                self.line(&format!("let ({a}, {b}) = {name};"));
                self.declare(&a, Type::Scalar(first), false);
                self.declare(&b, Type::Scalar(second), false);
            }
            Type::Option(some) => {
                let value = self.expression(some, 2);
                let text = match self.random.below(4) {
                    0 => {
                        self.reach("option take");
                        format!(
                            "if let Some(some) = {name}.take() {{ let _ = some; }} else {{ {name} = Some({value}); }}"
                        )
                    }
                    1 => {
                        self.reach("get_or_insert");
                        format!("*{name}.get_or_insert({value}) = {value};")
                    }
                    2 => {
                        self.reach("option combinators");
                        format!("{name} = {name}.filter(|some| *some != {value}).or(Some({value}));")
                    }
                    _ => {
                        self.reach("option replace");
                        format!("let _ = {name}.replace({value});")
                    }
                };
                self.line(&text);
            }
            ty => {
                let value = self.aggregate(ty);
                self.line(&format!("{name} = {value};"));
            }
        }
    }

    fn reference(&mut self) {
        let Some((first, ty)) = self.target(|_| true) else { return self.let_scalar() };
        let value = self.expression(ty, 2);
        let condition = self.expression(Scalar::Bool, 1);
        let other = self.variable(|variable| {
            variable.mutable && variable.ty == Type::Scalar(ty) && variable.name != first
        });
        let text = match other {
            Some(other) if self.random.once_in(3) => {
                self.reach("swapped through references");
                format!("core::mem::swap(&mut {first}, &mut {});", other.name)
            }
            Some(other) => {
                self.reach("chosen reference");
                format!(
                    "{{ let value = {value}; let at = if {condition} {{ &mut {first} }} else {{ &mut {} }}; *at = value; }}",
                    other.name
                )
            }
            None => {
                self.reach("reference");
                format!(
                    "{{ let (value, yes) = ({value}, {condition}); let at = &mut {first}; if yes {{ *at = value; }} }}"
                )
            }
        };
        self.line(&text);
    }

    /// A closure that is called twice, in one that captures by value.
    fn closure(&mut self) {
        let Some((target, ty)) = self.target(|_| true) else { return self.let_scalar() };
        let (name, parameter) = (self.fresh("f"), self.fresh("p"));
        let takes = Scalar::any(&mut self.random);
        self.declare(&parameter, Type::Scalar(takes), false);
        let body = self.expression(ty, 2);
        self.forget();
        let (a, b) = (self.expression(takes, 1), self.expression(takes, 1));
        let condition = self.expression(Scalar::Bool, 1);
        self.reach("closure");
        self.line(&format!(
            "let {name} = move |{parameter}: {}| -> {} {{ {body} }};",
            takes.name(),
            ty.name()
        ));
        self.line(&format!("{target} = if {condition} {{ {name}({a}) }} else {{ {name}({b}) }};"));
    }

    /// Leaves a loop, or goes on with its next round.
    fn leave(&mut self) {
        // Loops that lanes went into together must not be left by some of them.
        let Some(innermost) = self.loops.last().filter(|around| around.lanes == 1).cloned() else {
            return self.assign();
        };
        let labelled: Vec<_> = self
            .loops
            .iter()
            .filter(|around| around.lanes == 1 && !around.label.is_empty())
            .cloned()
            .collect();
        let label = match labelled.len() {
            0 => String::new(),
            count if self.random.once_in(2) => labelled[self.random.below(count)].label.clone(),
            _ => String::new(),
        };
        self.reach(match (label.is_empty(), label == innermost.label) {
            (true, _) => "break or continue",
            (false, true) => "labelled break or continue",
            (false, false) => "break or continue of an outer loop",
        });
        let condition = self.expression(Scalar::Bool, 2);
        let word = match innermost.has_value && label.is_empty() {
            true => "continue",
            false => self.random.of(&["break", "continue"]),
        };
        let space = if label.is_empty() { "" } else { " " };
        self.line(&format!("if {condition} {{ {word}{space}{label}; }}"));
    }

    fn early_return(&mut self) {
        if !self.early_end {
            return self.assign();
        }
        self.reach("early return");
        let (condition, value) = (self.expression(Scalar::Bool, 2), self.expression(Scalar::U64, 2));
        self.line(&format!("if {condition} && {condition} {{ return [{value}, 1, 2, 3]; }}"));
    }
}
