//! What a kind of program has besides: memory, atomics, groups of lanes, barriers, panics.

use crate::{
    Kind,
    program::{BLOCK, Loop, Program},
    types::Scalar::{self, *},
};

impl Program {
    /// A statement that only this kind of program has; false if none fits here.
    pub(crate) fn statement_of_kind(&mut self) -> bool {
        match self.kind {
            Kind::Scalar | Kind::Panics => return false,
            Kind::Slices => self.slices(),
            Kind::Matrix => self.matrix(),
            Kind::Atomics => self.atomics(),
            Kind::Lanes => return self.lanes > 1 && self.group(),
            Kind::Block => match self.random.below(3) {
                0 => return self.lanes > 1 && self.group(),
                _ if self.lanes != BLOCK => return false,
                _ => self.block(),
            },
            Kind::Collective => match self.random.below(3) {
                0 => return self.lanes > 1 && self.group(),
                _ if self.lanes != BLOCK => return false,
                _ => self.collective(),
            },
        }
        true
    }

    /// What this kind is about.
    pub(crate) fn main_statement(&mut self) {
        match self.kind {
            Kind::Block => self.block(),
            Kind::Collective => self.collective(),
            Kind::Lanes => {
                self.group();
            }
            Kind::Slices => self.slices(),
            Kind::Matrix => self.matrix(),
            Kind::Atomics => self.atomics(),
            Kind::Scalar | Kind::Panics => {}
        }
    }

    /// A branch or loop that lanes take together, in which they can meet.
    pub(crate) fn uniform_branch(&mut self) {
        // Fewer lanes may go their own way, together.
        let lanes = match self.random.below(2) {
            0 => self.lanes,
            _ => self.random.of(&[2, 4, 8, 16, 32]).min(self.lanes),
        };
        let count = 1 + self.random.below(2);
        let bound = self.uniform_expression(lanes);
        if self.random.once_in(2) {
            self.reach("uniform if");
            let all = 2 + self.random.below(3);
            let some = 1 + self.random.below(all - 1);
            self.line(&format!("if {bound} % {all} < {some} {{"));
            self.nested_with(lanes, |program| program.statements(count));
            if self.random.once_in(2) {
                self.line("} else {");
                self.nested_with(lanes, |program| program.statements(1));
            }
        } else {
            self.reach("uniform loop");
            let counter = self.fresh("k");
            let times = 2 + self.random.below(3);
            self.line(&format!("for {counter} in 0..{bound} % {times} {{"));
            self.loops.push(Loop { label: String::new(), lanes, has_value: false });
            self.nested_with(lanes, |program| {
                program.declare_uniform(&counter, U32, lanes);
                program.statements(count);
            });
            self.loops.pop();
        }
        self.line("}");
    }

    fn slices(&mut self) {
        let (slice, element) =
            self.random.of(&[("words", U32), ("bytes", U8), ("shorts", I16), ("doubles", F64)]);
        let Some((target, ty)) = self.target(|ty| ty != Bool) else { return self.let_scalar() };
        let name = ty.name();
        let at = self.expression(Usize, 2);
        let text = match self.random.below(6) {
            0 => {
                self.reach("slice get");
                format!("{target} = {slice}.get({at}).map_or({target}, |x| *x as {name});")
            }
            1 => {
                self.reach("loop over a subslice");
                let count = 1 + self.random.below(6);
                let bound = self.fresh("e");
                self.line(&format!("let from = {at} % ({slice}.len() - {count});"));
                self.line(&format!("for &{bound} in &{slice}[from..from + {count}] {{"));
                self.declare(&bound, crate::types::Type::Scalar(element), false);
                self.nested_with(1, |program| program.statements(1));
                self.forget();
                return self.line("}");
            }
            2 if element.is_integer() && ty.is_integer() => {
                self.reach("slice fold");
                let adapter = self.random.of(&[
                    ".step_by(7)",
                    ".rev().skip(3).step_by(11)",
                    ".skip(5).take(9)",
                    ".enumerate().filter(|(k, _)| k % 5 == 1).map(|(_, x)| x)",
                ]);
                format!(
                    "{target} = {slice}[{at} % {slice}.len()..].iter(){adapter}.take(12).fold({target}, |acc, x| acc.wrapping_mul(3) ^ *x as {name});"
                )
            }
            3 if element.is_integer() && ty.is_integer() => {
                self.reach("slice chunks");
                format!(
                    "if let Some(chunk) = {slice}.chunks_exact({}).nth({at} % 20) {{ {target} = {target}.wrapping_add(chunk[0] as {name}) ^ chunk[1] as {name}; }}",
                    2 + self.random.below(4)
                )
            }
            _ => {
                self.reach("slice index");
                format!("{target} = {slice}[{at} % {slice}.len()] as {name};")
            }
        };
        self.line(&text);
    }

    fn matrix(&mut self) {
        let Some((target, ty)) = self.target(|ty| ty != Bool) else { return self.let_scalar() };
        let (row, column) = (self.expression(Usize, 2), self.expression(Usize, 1));
        let name = ty.name();
        self.reach("matrix element");
        self.line(&format!("{target} = from[({row} % from.rows(), {column} % from.columns())] as {name};"));
    }

    fn atomics(&mut self) {
        let index = self.expression(Usize, 2);
        // One operation per element, so that their order does not matter.
        let (array, ty) = self.random.of(&[("sums", U32), ("wide", U64), ("signed", I32)]);
        let (slot, operation) = self.random.of(&[
            (0, "fetch_add"),
            (1, "fetch_xor"),
            (2, "fetch_max"),
            (3, "fetch_min"),
            (4, "fetch_or"),
            (5, "fetch_and"),
            (6, "fetch_sub"),
        ]);
        let value = self.expression(ty, 2);
        self.reach("atomic");
        let scope = self.random.of(&["", "", ".device().relaxed()"]);
        self.line(&format!("{array}[{index} % 4 * 7 + {slot}]{scope}.{operation}({value});"));
    }

    /// An operation of a group of lanes.
    fn group(&mut self) -> bool {
        let most = self.lanes.min(32);
        let sizes: Vec<u32> = [2, 4, 8, 16, 32].into_iter().filter(|size| *size <= most).collect();
        let size = self.random.of(&sizes);
        let group = match size {
            32 => "warp()".to_owned(),
            size => format!("tiled_partition::<{size}>()"),
        };
        let Some((target, ty)) = self.target(|ty| ty.is_integer() && ty.bits() <= 64) else { return false };
        let name = ty.name();
        let value = self.expression(ty, 2);
        let condition = self.expression(Bool, 2);
        let text = match self.random.below(17) {
            0 | 1 => {
                self.reach("group reduction");
                let operation = self.random.of(&["sum", "min", "max", "and", "or", "xor"]);
                return self.result_of_group(&format!("{group}.reduce_{operation}({value})"), ty, size);
            }
            2 => {
                self.reach("group reduction by a function");
                // Associative, but not commutative.
                format!("{target} = {group}.reduce({value}, |a, b| if b & 1 == 0 {{ b }} else {{ a | 1 }});")
            }
            3 => {
                self.reach("inclusive scan");
                format!("{target} = {group}.inclusive_scan({value}, |a, b| a.wrapping_add(b));")
            }
            4 => {
                self.reach("exclusive scan");
                format!("{target} = {group}.exclusive_scan({value}, 0, |a, b| a ^ b);")
            }
            5 => {
                self.reach("shuffle");
                let rank = self.expression(U32, 1);
                format!("let group = {group}; {target} = group.shuffle({value}, {rank} % group.size());")
            }
            6 => {
                self.reach("broadcast");
                return self.result_of_group(&format!("{group}.broadcast({value}, 0)"), ty, size);
            }
            7 => {
                self.reach("shuffle by a distance");
                let operation = self.random.of(&["shuffle_up", "shuffle_down"]);
                format!("{target} = {group}.{operation}({value}, {});", self.random.below(size as usize))
            }
            8 => {
                self.reach("try_shuffle");
                let operation = self.random.of(&["try_shuffle_up", "try_shuffle_down", "try_shuffle_xor"]);
                let by = self.random.below(size as usize);
                format!("{target} = {group}.{operation}({value}, {by}).unwrap_or({target});")
            }
            9 => {
                self.reach("vote");
                let vote = self.random.of(&["all", "any", "uniform"]);
                return self.result_of_group(&format!("({group}.{vote}({condition}) as u32)"), U32, size);
            }
            10 => {
                self.reach("ballot");
                return self.result_of_group(&format!("{group}.ballot({condition})"), U32, size);
            }
            11 => {
                self.reach("match");
                match self.random.below(2) {
                    0 => format!("{target} ^= {group}.match_any({value} & 3) as {name};"),
                    _ => format!("{target} ^= {group}.match_all({value} & 1) as {name};"),
                }
            }
            12 => {
                self.reach("partition by a condition");
                format!(
                    "let part = {group}.partition_if({condition}); {target} = part.reduce_xor({value}).wrapping_add(part.size() as {name});"
                )
            }
            13 => {
                self.reach("partition by a label");
                format!(
                    "let part = {group}.partition({value} & 3); {target} = part.inclusive_scan({target}, |a, b| a.wrapping_add(b)) ^ part.rank() as {name};"
                )
            }
            14 => {
                self.reach("invoke_one");
                format!("if let Some(one) = {group}.invoke_one(|| {value}) {{ {target} = one; }}")
            }
            15 => {
                self.reach("group of floats");
                let Some((target, ty)) = self.target(Scalar::is_float) else { return false };
                let value = self.expression(ty, 2);
                format!("{target} = {group}.reduce_sum({value});")
            }
            _ => {
                self.reach("group barrier and rank");
                format!(
                    "{{ let group = {group}; group.sync(); {target} ^= (group.rank() + 8 * group.size()) as {name}; }}"
                )
            }
        };
        self.line(&text);
        true
    }

    /// Keeps what a whole group knows.
    fn result_of_group(&mut self, text: &str, ty: Scalar, lanes: u32) -> bool {
        let name = self.fresh("u");
        self.line(&format!("let {name}: {} = {text};", ty.name()));
        self.declare_uniform(&name, ty, lanes);
        true
    }

    /// Shared memory in phases, and barriers that ask.
    fn block(&mut self) {
        let Some((target, ty)) = self.target(Scalar::is_integer) else { return self.let_scalar() };
        let name = ty.name();
        match self.random.below(7) {
            0 | 1 => {
                self.reach("shared array in phases");
                let index = self.fresh("i");
                self.line(&format!("for ({index}, element) in &mut front {{"));
                self.declare(&index, crate::types::Type::Scalar(Usize), false);
                let value = self.expression(U32, 3);
                self.forget();
                self.line(&format!("    *element = {value};"));
                self.line("}");
                self.line("let view = sync(front);");
                for _ in 0..1 + self.random.below(2) {
                    let at = self.expression(Usize, 2);
                    self.line(&format!("{target} = {target}.wrapping_mul(3) ^ view[{at} % 64] as {name};"));
                }
                self.line("front = sync(view);");
            }
            2 => {
                self.reach("double buffering");
                let value = self.expression(U32, 2);
                self.line(&format!("for (_, element) in &mut front {{ *element = {value}; }}"));
                let times = self.uniform_expression(BLOCK);
                self.line(&format!("for _ in 0..{times} % 4 {{"));
                self.line("    let view = sync(front);");
                let by = self.random.below(64);
                self.line(&format!(
                    "    for (i, element) in &mut back {{ *element = view[(i + {by}) % 64].wrapping_add(view[i]); }}"
                ));
                self.line("    (front, back) = (back, sync(view));");
                self.line("}");
                self.line("let view = sync(front);");
                let at = self.expression(Usize, 2);
                self.line(&format!("{target} ^= view[{at} % 64] as {name};"));
                self.line("front = sync(view);");
            }
            3 => {
                self.reach("shared atomics");
                let (start, at, value) =
                    (self.constant(U32), self.expression(Usize, 2), self.expression(U32, 2));
                let operation =
                    self.random.of(&["fetch_add", "fetch_xor", "fetch_max", "fetch_min", "fetch_or"]);
                self.line(&format!("for (_, element) in &mut counts {{ *element = {start}; }}"));
                self.line("let atomics = sync(counts.into_atomics());");
                let condition = self.expression(Bool, 2);
                self.line(&format!("if {condition} {{ atomics[{at} % 8].{operation}({value}); }}"));
                self.line("let view = sync(atomics);");
                let at = self.random.below(8);
                self.line(&format!("{target} ^= view[{at}] as {name};"));
                self.line("counts = sync(view);");
            }
            4 => {
                self.reach("two arrays at one barrier");
                let (a, b) = (self.expression(U32, 2), self.expression(U32, 2));
                self.line(&format!("for (_, element) in &mut front {{ *element = {a}; }}"));
                self.line(&format!("for (i, element) in &mut back {{ *element = {b} ^ i as u32; }}"));
                let at = self.expression(Usize, 2);
                self.line("let (first, second) = sync((front, back));");
                self.line(&format!(
                    "{target} = {target}.wrapping_sub((first[{at} % 64] ^ second[63]) as {name});"
                ));
                self.line("(front, back) = sync((first, second));");
            }
            5 => {
                self.reach("sync_count");
                let condition = self.expression(Bool, 2);
                let result = self.fresh("u");
                self.line(&format!("let (_, {result}) = sync_count((), {condition});"));
                self.declare_uniform(&result, U32, BLOCK);
            }
            _ => {
                self.reach("sync_all and sync_any");
                let condition = self.expression(Bool, 2);
                let result = self.fresh("u");
                let vote = self.random.of(&["sync_all", "sync_any"]);
                self.line(&format!("let {result} = {vote}((), {condition}).1 as u32;"));
                self.declare_uniform(&result, U32, BLOCK);
            }
        }
    }

    /// Reductions and scans of a block.
    fn collective(&mut self) {
        let (scratch, ty) =
            self.random.of(&[("scratch", U32), ("scratch", U32), ("wide", I64), ("floats", F32)]);
        let value = self.expression(ty, 2);
        let operators: &[&str] = match ty {
            F32 => &["Sum"],
            _ => &["Sum", "Product", "Min", "Max", "BitAnd", "BitOr", "BitXor"],
        };
        let operator = self.random.of(operators);
        let result = self.fresh("u");
        match self.random.below(6) {
            0 => {
                self.reach("block reduction");
                self.line(&format!("let {result} = {scratch}.reduce({value}, {operator});"));
                self.declare_uniform(&result, ty, BLOCK);
            }
            1 => {
                self.reach("block reduction to the first");
                self.line(&format!(
                    "let {result} = {scratch}.reduce_to_first({value}, {operator}).unwrap_or_default();"
                ));
                self.declare(&result, crate::types::Type::Scalar(ty), false);
            }
            2 => {
                self.reach("block inclusive scan");
                self.line(&format!("let {result} = {scratch}.inclusive_scan({value}, {operator});"));
                self.declare(&result, crate::types::Type::Scalar(ty), false);
            }
            3 => {
                self.reach("block scan with total");
                let total = self.fresh("u");
                self.line(&format!(
                    "let ({result}, {total}) = {scratch}.inclusive_scan_with_total({value}, {operator});"
                ));
                self.declare(&result, crate::types::Type::Scalar(ty), false);
                self.declare_uniform(&total, ty, BLOCK);
            }
            4 => {
                self.reach("block exclusive scan");
                let initial = self.constant(ty);
                self.line(&format!(
                    "let {result} = {scratch}.exclusive_scan({value}, {initial}, {operator});"
                ));
                self.declare(&result, crate::types::Type::Scalar(ty), false);
            }
            _ => {
                self.reach("block reduction of items");
                let other = self.leaf(ty);
                self.line(&format!("let {result} = {scratch}.reduce_items([{value}, {other}], {operator});"));
                self.declare_uniform(&result, ty, BLOCK);
            }
        }
    }

    /// The end of a program with barriers: threads that come to fewer of them, because they end.
    pub(crate) fn ragged_end(&mut self) {
        let condition = self.expression(Bool, 2);
        if self.random.once_in(2) {
            self.reach("loop of barriers that threads leave to end");
            let rounds = self.expression(U8, 2);
            self.line(&format!("for k in 0..{rounds} % 5 {{"));
            self.line(&format!("    let counted = sync_count((), {condition} ^ (k % 2 == 0)).1;"));
        } else {
            self.reach("barriers behind threads that ended");
            let end = self.expression(Bool, 2);
            self.line(&format!("if {end} {{"));
            self.line("    for (i, out) in out { *out = [i as u64, 5, 6, 7]; }");
            self.line("    return;");
            self.line("}");
            let times = self.uniform_expression(BLOCK);
            self.line(&format!("for k in 0..{times} % 3 {{"));
            self.line(&format!("    let counted = sync_count((), {condition} ^ (k % 2 == 0)).1;"));
        }
        if let Some((target, ty)) = self.target(Scalar::is_integer) {
            self.line(&format!("    {target} = {target}.wrapping_add(counted as {});", ty.name()));
        }
        self.line("}");
    }

    /// What one thread may panic with.
    pub(crate) fn panicking(&mut self) {
        let condition = self.expression(Bool, 1);
        let ty = Scalar::integer(&mut self.random);
        let name = ty.name();
        let (a, b) = (self.expression(ty, 2), self.expression(ty, 1));
        let at = self.expression(Usize, 2);
        let array = self.aggregate_of_words();
        let choice = self.random.below(16);
        let (construct, text) = match choice {
            0 => ("index out of bounds", format!("let x = {array}[{at} % 6];")),
            1 => ("subslice out of bounds", format!("let x = {array}[{at} % 6..].len();")),
            2 => (
                "subslice in disorder",
                format!("let (x, y) = ({at} % 5, {} % 5); let x = {array}[x..y].len();", self.leaf(Usize)),
            ),
            3 => ("division by zero", format!("let x = {a} / ({b} & 1);")),
            4 => ("remainder by zero", format!("let x = {a} % ({b} & 1);")),
            5 => ("unwrap", format!("let x = {a}.checked_add({b}).unwrap();")),
            6 => ("expect", format!("let x = {a}.checked_mul({b}).expect(\"the product fits\");")),
            7 => ("explicit panic", format!("if {condition} {{ panic!(\"{{}} and {{:?}}\", {a}, {b}); }}")),
            8 => ("assert", format!("assert!({condition}, \"a is {{}}\", {a});")),
            9 => ("assert_eq", format!("assert_eq!({a}, {b});")),
            10 => ("unreachable", format!("match {a} % 3 {{ 0 | 1 => {{}} _ => unreachable!() }}")),
            11 => ("overflow", format!("let x = {a} + {b};")),
            12 => ("overflow", format!("let x = {a} * {b};")),
            13 => ("shift too far", format!("let x = {a} << ({b} & 127);")),
            14 => (
                "copy of another length",
                format!("let mut x = {array}; x[..{at} % 4].copy_from_slice(&{array}[..2]);"),
            ),
            _ => (
                "todo and option",
                format!(
                    "let x = {array}.get({at} % 6).copied().map(|x| x as {name}).expect(\"it is there\");"
                ),
            ),
        };
        self.reach(construct);
        self.line(&format!("{{ {text} }}"));
    }

    fn aggregate_of_words(&mut self) -> String {
        let words: Vec<_> = (0..3).map(|_| self.leaf(U32)).collect();
        format!("[{}]", words.join(", "))
    }
}
