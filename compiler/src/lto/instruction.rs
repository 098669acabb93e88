//! Instructions of LLVM IR as LLVM 7 wrote them.

use super::{
    Untranslatable,
    reader::Reader,
    types::{Type, address_space},
    value::Symbols,
};

/// What the optimiser knows of values and LLVM 7 does not know to be told.
const PROMISES: [&str; 14] = [
    "noundef",
    "nonnull",
    "noalias",
    "nofree",
    "readonly",
    "writeonly",
    "readnone",
    "zeroext",
    "signext",
    "inreg",
    "returned",
    "nocapture",
    "immarg",
    "dead_on_return",
];

/// Those with a value in parentheses.
const VALUED_PROMISES: [&str; 6] =
    ["range", "captures", "dereferenceable", "dereferenceable_or_null", "nofpclass", "initializes"];

/// Flags of floating-point operations; LLVM 7 had all of them.
const FAST_MATH: [&str; 8] = ["fast", "nnan", "ninf", "nsz", "arcp", "contract", "afn", "reassoc"];

/// Intrinsics that only tell the optimiser something: their calls are left out.
const NOTES: [&str; 4] =
    ["@llvm.lifetime.", "@llvm.assume", "@llvm.experimental.noalias.scope.decl", "@llvm.dbg."];

/// Whether calls of an intrinsic are notes to the optimiser.
pub(super) fn is_note(name: &str) -> bool {
    NOTES.iter().any(|prefix| name.starts_with(prefix))
}

/// Skips what is promised of a parameter or a result. Gives the type of a struct that is passed by value in memory.
pub(super) fn skip_promises(reader: &mut Reader<'_>) -> Result<Option<String>, Untranslatable> {
    let mut by_value = None;
    loop {
        let before = reader.rest().len();
        reader.eat_all(&PROMISES);
        for promise in VALUED_PROMISES {
            if reader.eat(promise) {
                reader.parenthesised().ok_or_else(|| reader.untranslatable())?;
            }
        }
        if reader.eat("align") {
            reader.word();
        }
        if reader.eat("byval") {
            let ty = reader.parenthesised().ok_or_else(|| reader.untranslatable())?;
            by_value = Some(Type::read(&mut Reader::new(ty))?.old());
        }
        if reader.rest().len() == before {
            return Ok(by_value);
        }
    }
}

/// Translates one instruction into some.
pub(super) fn translate(line: &str, symbols: &Symbols) -> Result<Vec<String>, Untranslatable> {
    let mut reader = Reader::new(line);
    let result = match reader.peek("%") {
        true => {
            let name = reader.name()?;
            reader.expect("=")?;
            Some(name)
        }
        false => None,
    };
    Instruction { result, reader, symbols, line }.translate()
}

struct Instruction<'a> {
    result: Option<String>,
    reader: Reader<'a>,
    symbols: &'a Symbols,
    line: &'a str,
}

impl Instruction<'_> {
    fn result(&self) -> Result<String, Untranslatable> {
        self.result.clone().ok_or_else(|| self.untranslatable())
    }

    fn untranslatable(&self) -> Untranslatable {
        Untranslatable(self.line.trim().to_owned())
    }

    /// A line that gives the result, if there is one.
    fn gives(&self, instruction: impl std::fmt::Display) -> Vec<String> {
        vec![match &self.result {
            Some(name) => format!("{name} = {instruction}"),
            None => instruction.to_string(),
        }]
    }

    fn typed(&mut self) -> Result<String, Untranslatable> {
        self.symbols.typed(&mut self.reader)
    }

    fn translate(mut self) -> Result<Vec<String>, Untranslatable> {
        self.reader.eat_all(&["tail", "musttail", "notail"]);
        let operation = self.reader.word();
        match operation {
            "ret" if self.reader.eat("void") => Ok(vec!["ret void".to_owned()]),
            "unreachable" => Ok(vec!["unreachable".to_owned()]),
            "ret" | "br" | "switch" => self.plain(operation),
            "add" | "sub" | "mul" | "shl" | "udiv" | "sdiv" | "lshr" | "ashr" | "urem" | "srem" | "and"
            | "or" | "xor" => self.arithmetic(operation),
            "fadd" | "fsub" | "fmul" | "fdiv" | "frem" => {
                let flags = self.flags(&FAST_MATH);
                let (ty, a, b) = self.two_operands()?;
                Ok(self.gives(format_args!("{operation} {flags}{ty} {a}, {b}")))
            }
            "fneg" => {
                let flags = self.flags(&FAST_MATH);
                let ty = Type::read(&mut self.reader)?;
                let value = self.symbols.value(&mut self.reader, &ty)?;
                let zero = match &ty {
                    Type::Same(_) => "-0.0".to_owned(),
                    Type::Vector(count, element) => {
                        let all = vec![format!("{} -0.0", element.old()); *count as usize];
                        format!("<{}>", all.join(", "))
                    }
                    _ => return Err(self.untranslatable()),
                };
                Ok(self.gives(format_args!("fsub {flags}{} {zero}, {value}", ty.old())))
            }
            "icmp" | "fcmp" => {
                self.reader.eat("samesign");
                let flags = self.flags(&FAST_MATH);
                let predicate = self.reader.word();
                let (ty, a, b) = self.two_operands()?;
                Ok(self.gives(format_args!("{operation} {flags}{predicate} {ty} {a}, {b}")))
            }
            "zext" | "sext" | "trunc" | "fpext" | "fptrunc" | "sitofp" | "uitofp" | "fptosi" | "fptoui"
            | "ptrtoint" | "inttoptr" | "bitcast" | "addrspacecast" => {
                self.reader.eat_all(&["nneg", "nuw", "nsw"]);
                self.reader.eat_all(&FAST_MATH);
                let from = self.typed()?;
                self.reader.expect("to")?;
                let to = Type::read(&mut self.reader)?.old();
                Ok(self.gives(format_args!("{operation} {from} to {to}")))
            }
            "freeze" => {
                let value = self.typed()?;
                Ok(self.gives(format_args!("select i1 true, {value}, {value}")))
            }
            "select" => {
                self.reader.eat_all(&FAST_MATH);
                let condition = self.typed()?;
                self.reader.expect(",")?;
                let yes = self.typed()?;
                self.reader.expect(",")?;
                let no = self.typed()?;
                Ok(self.gives(format_args!("select {condition}, {yes}, {no}")))
            }
            "phi" => self.phi(),
            "extractvalue" | "insertvalue" => self.aggregate(operation),
            "extractelement" | "insertelement" | "shufflevector" => {
                let mut operands = vec![self.typed()?];
                while self.reader.eat(",") && !self.reader.peek("!") {
                    operands.push(self.typed()?);
                }
                Ok(self.gives(format_args!("{operation} {}", operands.join(", "))))
            }
            "alloca" => self.alloca(),
            "load" => self.load(),
            "store" => self.store(),
            "getelementptr" => {
                let is_inbounds = self.reader.eat("inbounds");
                self.reader.eat_all(&["nuw", "nusw"]);
                let place = self.symbols.element_pointer(&mut self.reader, is_inbounds)?;
                Ok(place.instructions(&self.result()?))
            }
            "atomicrmw" => self.atomic(),
            "fence" => {
                // Of a scope or of the device: `fence` of LLVM 7 is a barrier for all.
                Ok(vec!["call void @llvm.nvvm.membar.sys()".to_owned()])
            }
            "call" => self.call(),
            _ => Err(self.untranslatable()),
        }
    }

    /// Instructions of typed operands and labels in between.
    fn plain(mut self, operation: &str) -> Result<Vec<String>, Untranslatable> {
        let mut text = self.typed()?;
        loop {
            if self.reader.eat(",") {
                if self.reader.peek("!") {
                    break;
                }
                text += ", ";
            } else if self.reader.eat("[") {
                text += " [ ";
            } else if self.reader.eat("]") {
                text += " ]";
            } else if self.reader.rest().is_empty() {
                break;
            } else {
                text += &self.typed()?;
                text.push(' ');
            }
        }
        Ok(vec![format!("{operation} {text}")])
    }

    fn flags(&mut self, known: &[&str]) -> String {
        let mut flags = String::new();
        while let Some(flag) = known.iter().find(|flag| self.reader.eat(flag)) {
            flags += flag;
            flags.push(' ');
        }
        flags
    }

    fn two_operands(&mut self) -> Result<(String, String, String), Untranslatable> {
        let ty = Type::read(&mut self.reader)?;
        let a = self.symbols.value(&mut self.reader, &ty)?;
        self.reader.expect(",")?;
        let b = self.symbols.value(&mut self.reader, &ty)?;
        Ok((ty.old(), a, b))
    }

    fn arithmetic(mut self, operation: &str) -> Result<Vec<String>, Untranslatable> {
        let mut flags = self.flags(&["nuw", "nsw", "exact", "disjoint"]);
        if operation == "or" {
            flags.clear();
        }
        let (ty, a, b) = self.two_operands()?;
        Ok(self.gives(format_args!("{operation} {flags}{ty} {a}, {b}")))
    }

    fn phi(mut self) -> Result<Vec<String>, Untranslatable> {
        self.reader.eat_all(&FAST_MATH);
        let ty = Type::read(&mut self.reader)?;
        let mut incoming = Vec::new();
        while self.reader.eat("[") {
            let value = self.symbols.value(&mut self.reader, &ty)?;
            self.reader.expect(",")?;
            let from = self.reader.name()?;
            self.reader.expect("]")?;
            incoming.push(format!("[ {value}, {from} ]"));
            self.reader.eat(",");
        }
        Ok(self.gives(format_args!("phi {} {}", ty.old(), incoming.join(", "))))
    }

    fn aggregate(mut self, operation: &str) -> Result<Vec<String>, Untranslatable> {
        let mut operands = vec![self.typed()?];
        if operation == "insertvalue" {
            self.reader.expect(",")?;
            operands.push(self.typed()?);
        }
        while self.reader.eat(",") && !self.reader.peek("!") {
            operands.push(self.reader.word().to_owned());
        }
        Ok(self.gives(format_args!("{operation} {}", operands.join(", "))))
    }

    fn alloca(mut self) -> Result<Vec<String>, Untranslatable> {
        let ty = Type::read(&mut self.reader)?;
        let mut align = String::new();
        while self.reader.eat(",") && !self.reader.peek("!") {
            if self.reader.eat("align") {
                align = format!(", align {}", self.reader.word());
            } else {
                return Err(self.untranslatable());
            }
        }
        let name = self.result()?;
        Ok(vec![
            format!("{name}.of = alloca {}{align}", ty.old()),
            format!("{name} = bitcast {} {name}.of to i8*", ty.old_pointer(0)),
        ])
    }

    /// `ptr addrspace(1) %p`, as a pointer to this type, with the instruction that makes it one.
    fn place(&mut self, of: &Type, name: &str) -> Result<(String, String), Untranslatable> {
        self.reader.expect("ptr")?;
        let space = address_space(&mut self.reader)?;
        let bytes = Type::Pointer(space);
        let pointer = self.symbols.value(&mut self.reader, &bytes)?;
        let typed = of.old_pointer(space);
        Ok((format!("{name} = bitcast {} {pointer} to {typed}", bytes.old()), format!("{typed} {name}")))
    }

    /// `, align 4`, behind what says how threads see it. LLVM 7 orders nothing for a GPU by itself.
    fn align(&mut self) -> Result<String, Untranslatable> {
        if self.reader.eat("syncscope") {
            self.reader.parenthesised().ok_or_else(|| self.untranslatable())?;
        }
        self.reader.eat_all(&["unordered", "monotonic"]);
        if !(self.reader.rest().is_empty() || self.reader.peek(",")) {
            return Err(self.untranslatable());
        }
        let aligned = self.reader.eat(",") && self.reader.eat("align");
        Ok(if aligned { format!(", align {}", self.reader.word()) } else { String::new() })
    }

    fn load(mut self) -> Result<Vec<String>, Untranslatable> {
        // An atomic one is neither split nor left out.
        let is_atomic = self.reader.eat("atomic");
        let volatile = if self.reader.eat("volatile") || is_atomic { "volatile " } else { "" };
        let ty = Type::read(&mut self.reader)?;
        self.reader.expect(",")?;
        let name = self.result()?;
        let (cast, place) = self.place(&ty, &format!("{name}.from"))?;
        let align = self.align()?;
        Ok(vec![cast, format!("{name} = load {volatile}{}, {place}{align}", ty.old())])
    }

    fn store(mut self) -> Result<Vec<String>, Untranslatable> {
        let is_atomic = self.reader.eat("atomic");
        let volatile = if self.reader.eat("volatile") || is_atomic { "volatile " } else { "" };
        let ty = Type::read(&mut self.reader)?;
        let value = self.symbols.value(&mut self.reader, &ty)?;
        self.reader.expect(",")?;
        let name = self.fresh();
        let (cast, place) = self.place(&ty, &name)?;
        let align = self.align()?;
        Ok(vec![cast, format!("store {volatile}{} {value}, {place}{align}", ty.old())])
    }

    /// A name for an instruction that has none.
    fn fresh(&self) -> String {
        let number = self.symbols.unnamed.get();
        self.symbols.unnamed.set(number + 1);
        format!("%to.{number}")
    }

    fn atomic(mut self) -> Result<Vec<String>, Untranslatable> {
        self.reader.eat("volatile");
        let operation = self.reader.word();
        if !["xchg", "add", "sub", "and", "or", "xor", "max", "min", "umax", "umin"].contains(&operation) {
            return Err(self.untranslatable());
        }
        // The type of the value comes after the place.
        let mut ahead = self.reader.clone();
        ahead.expect("ptr")?;
        let space = address_space(&mut ahead)?;
        self.symbols.value(&mut ahead, &Type::Pointer(space))?;
        ahead.expect(",")?;
        let ty = Type::read(&mut ahead)?;
        let name = self.result.clone().unwrap_or_else(|| self.fresh());
        let (cast, place) = self.place(&ty, &format!("{name}.at"))?;
        self.reader.expect(",")?;
        Type::read(&mut self.reader)?;
        let value = self.symbols.value(&mut self.reader, &ty)?;
        self.align()?;
        Ok(vec![cast, format!("{name} = atomicrmw {operation} {place}, {} {value} monotonic", ty.old())])
    }

    fn call(mut self) -> Result<Vec<String>, Untranslatable> {
        self.reader.eat_all(&FAST_MATH);
        self.reader.eat_all(&["fastcc", "ccc", "ptx_device"]);
        skip_promises(&mut self.reader)?;
        let returned = Type::read(&mut self.reader)?.old();
        if self.reader.eat("asm") {
            return self.assembly(&returned);
        }
        let callee = match self.reader.peek("@") {
            true => self.reader.name()?,
            false => return Err(self.untranslatable()),
        };
        if is_note(&callee) {
            return Ok(Vec::new());
        }
        let arguments = self.arguments()?;
        let values: Vec<String> = arguments.iter().map(|(_, value)| value.clone()).collect();
        if let Some(lines) = self.replaced(&callee, &arguments) {
            return Ok(lines);
        }
        let callee = old_intrinsic(&callee);
        Ok(self.gives(format_args!("call {returned} {callee}({})", values.join(", "))))
    }

    /// The arguments of a call: each value alone, and with its type.
    fn arguments(&mut self) -> Result<Vec<(String, String)>, Untranslatable> {
        let inner = self.reader.parenthesised().ok_or_else(|| self.untranslatable())?;
        let mut reader = Reader::new(inner);
        let mut arguments = Vec::new();
        while !reader.rest().is_empty() {
            let ty = Type::read(&mut reader)?;
            if skip_promises(&mut reader)?.is_some() {
                return Err(self.untranslatable());
            }
            let value = self.symbols.value(&mut reader, &ty)?;
            arguments.push((value.clone(), format!("{} {value}", ty.old())));
            reader.eat(",");
        }
        Ok(arguments)
    }

    fn assembly(mut self, returned: &str) -> Result<Vec<String>, Untranslatable> {
        let effects = self.flags(&["sideeffect", "alignstack"]);
        let text = self.reader.quoted()?;
        self.reader.expect(",")?;
        let constraints = self.reader.quoted()?;
        let arguments: Vec<String> = self.arguments()?.into_iter().map(|(_, typed)| typed).collect();
        Ok(self.gives(format_args!(
            "call {returned} asm {effects}{text}, {constraints}({})",
            arguments.join(", ")
        )))
    }

    /// What stands for intrinsics that LLVM 7 did not have.
    fn replaced(&self, callee: &str, arguments: &[(String, String)]) -> Option<Vec<String>> {
        let call = |text: &str| Some(self.gives(text));
        match callee {
            "@llvm.nvvm.exit" => return call("call void asm sideeffect \"exit;\", \"\"()"),
            "@llvm.nvvm.barrier.cta.sync.aligned.all" => {
                let (_, barrier) = arguments.first()?;
                return call(&format!("call void @llvm.nvvm.barrier.n({barrier})"));
            }
            _ => {}
        }
        let (a, typed) = arguments.first()?;
        let (b, _) = arguments.get(1)?;
        let predicate = match callee.get(..10)? {
            "@llvm.umin" => "ult",
            "@llvm.umax" => "ugt",
            "@llvm.smin" => "slt",
            "@llvm.smax" => "sgt",
            _ => return None,
        };
        let name = self.result.as_ref()?;
        let ty = typed.strip_suffix(a.as_str())?.trim_end();
        Some(vec![
            format!("{name}.first = icmp {predicate} {ty} {a}, {b}"),
            format!("{name} = select i1 {name}.first, {ty} {a}, {ty} {b}"),
        ])
    }
}

/// Names of intrinsics say the types of pointers: `llvm.memcpy.p0.p0.i64`, once `llvm.memcpy.p0i8.p0i8.i64`.
pub(super) fn old_intrinsic(name: &str) -> String {
    if !name.starts_with("@llvm.") {
        return name.to_owned();
    }
    let parts = name.split('.').map(|part| match part.strip_prefix('p') {
        Some(space) if !space.is_empty() && space.chars().all(|c| c.is_ascii_digit()) => format!("{part}i8"),
        _ => part.to_owned(),
    });
    parts.collect::<Vec<_>>().join(".")
}
