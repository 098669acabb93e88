//! A module, line by line: its variables and functions, and what NVVM IR says of them in other places.

use std::fmt::Write;

use super::{
    TARGET, Untranslatable, VERSION, instruction,
    reader::Reader,
    types::{Type, address_space},
    value::{Symbol, Symbols},
};

/// Translates an optimised module without debug info.
pub(crate) fn translate(module: &str) -> Result<String, Untranslatable> {
    let mut symbols = Symbols::default();
    let lines: Vec<&str> = module.lines().collect();
    for line in &lines {
        declare(line, &mut symbols)?;
    }
    let mut text = TARGET.to_owned();
    let mut kernels = Vec::new();
    let mut lines = lines.into_iter();
    while let Some(line) = lines.next() {
        if line.starts_with("define ") {
            let head = Head::read(line)?;
            if let Some(kernel) = &head.kernel {
                kernels.push((kernel.clone(), head.attributes.clone()));
            }
            function(&head, &mut lines, &symbols, &mut text)?;
        } else if line.starts_with("declare ") {
            let head = Head::read(line)?;
            if !is_left_out(&head.name) {
                let _ = writeln!(
                    text,
                    "declare {} {}({}){}",
                    head.returned,
                    instruction::old_intrinsic(&head.name),
                    head.parameter_types(),
                    head.group()
                );
            }
        } else if line.starts_with('@') {
            text += &global(line, &symbols)?;
        } else if line.starts_with('%') {
            let mut reader = Reader::new(line);
            let name = reader.name()?;
            reader.expect("=")?;
            reader.expect("type")?;
            let _ = writeln!(text, "{name} = type {}", Type::read(&mut reader)?.old());
        }
    }
    text += "\ndeclare void @llvm.nvvm.membar.sys()\ndeclare void @llvm.nvvm.barrier.n(i32)\n\
             attributes #0 = { convergent nounwind }\nattributes #1 = { nounwind }\n";
    annotate(&kernels, module, &mut text);
    keep(&kernels, &symbols, &mut text);
    text += VERSION;
    Ok(text)
}

/// Notes what a line defines.
fn declare(line: &str, symbols: &mut Symbols) -> Result<(), Untranslatable> {
    if line.starts_with("define ") || line.starts_with("declare ") {
        let head = Head::read(line)?;
        let pointer = format!("{} ({})*", head.returned, head.parameter_types());
        symbols.globals.insert(head.name, Symbol { pointer, space: 0 });
    } else if line.starts_with('@') {
        let Variable { name, space, ty, .. } = Variable::read(line)?;
        symbols.globals.insert(name, Symbol { pointer: ty.old_pointer(space), space });
    } else if line.starts_with('%') {
        let mut reader = Reader::new(line);
        let name = reader.name()?;
        reader.expect("=")?;
        reader.expect("type")?;
        let ty = Type::read(&mut reader)?;
        symbols.named.insert(name, ty);
    }
    Ok(())
}

/// Intrinsics whose calls are left out, or replaced.
fn is_left_out(name: &str) -> bool {
    let replaced = [
        "@llvm.nvvm.exit",
        "@llvm.nvvm.barrier.cta.sync.aligned.all",
        "@llvm.umin",
        "@llvm.umax",
        "@llvm.smin",
        "@llvm.smax",
    ];
    instruction::is_note(name) || replaced.iter().any(|prefix| name.starts_with(prefix))
}

/// The first line of a function.
struct Head {
    name: String,
    returned: String,
    /// The type of each, and its name where the function is defined.
    parameters: Vec<(String, Option<String>)>,
    /// The name again, if it is an entry.
    kernel: Option<String>,
    is_local: bool,
    /// `#3`.
    attributes: String,
}

impl Head {
    fn read(line: &str) -> Result<Self, Untranslatable> {
        let mut reader = Reader::new(line);
        reader.eat_all(&["define", "declare"]);
        let mut is_local = false;
        while ["internal", "private"].iter().any(|linkage| reader.eat(linkage)) {
            is_local = true;
        }
        reader.eat_all(&[
            "external",
            "linkonce_odr",
            "weak_odr",
            "weak",
            "dso_local",
            "hidden",
            "protected",
            "fastcc",
            "ptx_device",
        ]);
        let is_kernel = reader.eat("ptx_kernel");
        instruction::skip_promises(&mut reader)?;
        let returned = Type::read(&mut reader)?.old();
        let name = reader.name()?;
        let list = reader.parenthesised().ok_or_else(|| reader.untranslatable())?;
        let mut list = Reader::new(list);
        let mut parameters = Vec::new();
        while !list.rest().is_empty() {
            if list.eat("...") {
                return Err(reader.untranslatable());
            }
            let ty = match list.eat("metadata") {
                true => "metadata".to_owned(),
                false => Type::read(&mut list)?.old(),
            };
            if instruction::skip_promises(&mut list)?.is_some() {
                return Err(reader.untranslatable());
            }
            let name = if list.peek("%") { Some(list.name()?) } else { None };
            parameters.push((ty, name));
            list.eat(",");
        }
        reader.eat_all(&["unnamed_addr", "local_unnamed_addr"]);
        let attributes = if reader.peek("#") { reader.name()? } else { String::new() };
        let kernel = is_kernel.then(|| name.clone());
        Ok(Self { name, returned, parameters, kernel, is_local, attributes })
    }

    fn parameter_types(&self) -> String {
        let types: Vec<&str> = self.parameters.iter().map(|(ty, _)| ty.as_str()).collect();
        types.join(", ")
    }

    /// Threads may meet in any function, and in intrinsics by what NVIDIA's optimiser knows of them.
    fn group(&self) -> &'static str {
        if self.name.starts_with("@llvm.") { " #1" } else { " #0" }
    }
}

/// Writes a function, whose lines follow.
fn function<'a>(
    head: &Head,
    lines: &mut impl Iterator<Item = &'a str>,
    symbols: &Symbols,
    text: &mut String,
) -> Result<(), Untranslatable> {
    let unnamed = head
        .parameters
        .iter()
        .filter(|(_, name)| name.as_ref().is_some_and(|name| name.starts_with("%v.")))
        .count();
    let parameters: Vec<String> = head
        .parameters
        .iter()
        .map(|(ty, name)| format!("{ty} {}", name.as_deref().unwrap_or_default()))
        .collect();
    let linkage = if head.is_local { "internal " } else { "" };
    let _ = writeln!(
        text,
        "define {linkage}{} {}({}){} {{",
        head.returned,
        head.name,
        parameters.join(", "),
        head.group()
    );
    let mut is_first = true;
    while let Some(line) = lines.next().filter(|line| *line != "}") {
        let code = line.split(" ; ").next().unwrap_or_default().trim_end();
        if code.is_empty() || code.starts_with(';') {
            continue;
        }
        if let Some(label) = (!code.starts_with(' ')).then(|| code.strip_suffix(':')).flatten() {
            let label = Reader::new(&format!("%{label}")).name()?;
            let _ = writeln!(text, "{}:", &label[1..]);
        } else {
            if is_first {
                // The first block has the number after the parameters'.
                let _ = writeln!(text, "v.{unnamed}:");
            }
            let mut whole = code.to_owned();
            // A switch goes over several lines.
            while whole.contains('[') && whole.trim_start().starts_with("switch") && !whole.contains(']') {
                whole.push(' ');
                whole += lines.next().unwrap_or_default().trim();
            }
            for translated in instruction::translate(&whole, symbols)? {
                let _ = writeln!(text, "  {translated}");
            }
        }
        is_first = false;
    }
    text.push_str("}\n\n");
    Ok(())
}

/// A global variable.
struct Variable<'a> {
    name: String,
    linkage: &'static str,
    space: u32,
    is_initialised_outside: bool,
    is_constant: bool,
    ty: Type,
    rest: Reader<'a>,
}

impl<'a> Variable<'a> {
    fn read(line: &'a str) -> Result<Self, Untranslatable> {
        let mut reader = Reader::new(line);
        let name = reader.name()?;
        reader.expect("=")?;
        let mut linkage = "";
        for (now, then) in [
            ("private", "internal "),
            ("internal", "internal "),
            ("external", "external "),
            ("linkonce_odr", "linkonce_odr "),
        ] {
            if reader.eat(now) {
                linkage = then;
            }
        }
        reader.eat_all(&["dso_local", "hidden", "unnamed_addr", "local_unnamed_addr"]);
        // Variables that the text gives no space lie in that of the device.
        let space = match address_space(&mut reader)? {
            0 => 1,
            space => space,
        };
        let is_initialised_outside = reader.eat("externally_initialized");
        let is_constant = reader.eat("constant");
        if !is_constant {
            reader.expect("global")?;
        }
        let ty = Type::read(&mut reader)?;
        Ok(Self { name, linkage, space, is_initialised_outside, is_constant, ty, rest: reader })
    }
}

fn global(line: &str, symbols: &Symbols) -> Result<String, Untranslatable> {
    let Variable { name, linkage, space, is_initialised_outside, is_constant, ty, mut rest } =
        Variable::read(line)?;
    if name.starts_with("@llvm.") {
        return Ok(String::new());
    }
    let value = match rest.rest().is_empty() || rest.peek(",") {
        true => String::new(),
        false => format!(" {}", symbols.value(&mut rest, &ty)?),
    };
    let mut align = String::new();
    while rest.eat(",") {
        if rest.eat("align") {
            align = format!(", align {}", rest.word());
        } else {
            rest.word();
            let _ = rest.quoted();
        }
    }
    let outside = if is_initialised_outside { "externally_initialized " } else { "" };
    let kind = if is_constant { "constant" } else { "global" };
    Ok(format!("{name} = {linkage}addrspace({space}) {outside}{kind} {}{value}{align}\n", ty.old()))
}

/// NVIDIA's optimiser takes what is not listed here for unused: entries, and variables that the host looks for.
fn keep(kernels: &[(String, String)], symbols: &Symbols, text: &mut String) {
    let visible =
        |line: &&str| line.starts_with('@') && !line.contains("= internal ") && !line.contains("= external ");
    let variables: Vec<String> =
        text.lines().filter(visible).filter_map(|line| line.split(" = ").next()).map(str::to_owned).collect();
    let names = kernels.iter().map(|(kernel, _)| kernel).chain(&variables);
    let kept: Vec<String> =
        names.filter_map(|name| Some(format!("i8* {}", symbols.globals.get(name)?.cast(name, 0)))).collect();
    if !kept.is_empty() {
        let _ = writeln!(
            text,
            "@llvm.used = appending global [{} x i8*] [{}], section \"llvm.metadata\"",
            kept.len(),
            kept.join(", ")
        );
    }
}

/// What LLVM has as attributes of functions, NVVM IR has as annotations: entries, and their contracts.
fn annotate(kernels: &[(String, String)], module: &str, text: &mut String) {
    let mut nodes = Vec::new();
    for (kernel, group) in kernels {
        let pointer = text
            .lines()
            .find_map(|line| line.strip_prefix(&format!("define void {kernel}(")))
            .and_then(|rest| rest.split(')').next())
            .map(|list| {
                let types: Vec<&str> =
                    list.split(", ").map(|one| one.rsplit_once(' ').map_or(one, |(ty, _)| ty)).collect();
                format!("void ({})* {kernel}", types.join(", "))
            });
        let Some(pointer) = pointer else { continue };
        let mut add = |key: &str, value: &str| nodes.push(format!("!{{{pointer}, !\"{key}\", i32 {value}}}"));
        add("kernel", "1");
        let prefix = format!("attributes {group} = ");
        let attributes = module.lines().find(|line| line.starts_with(&prefix)).unwrap_or_default();
        let of = |key: &str| {
            let (_, rest) = attributes.split_once(&format!("\"{key}\"=\""))?;
            rest.split('"').next()
        };
        for (key, names) in [
            ("nvvm.reqntid", ["reqntidx", "reqntidy", "reqntidz"]),
            ("nvvm.maxntid", ["maxntidx", "maxntidy", "maxntidz"]),
        ] {
            for (value, name) in of(key).into_iter().flat_map(|values| values.split(',')).zip(names) {
                add(name, value);
            }
        }
        for (key, name) in [("nvvm.minctasm", "minctasm"), ("nvvm.maxnreg", "maxnreg")] {
            if let Some(value) = of(key) {
                add(name, value);
            }
        }
    }
    for (number, node) in nodes.iter().enumerate() {
        let _ = writeln!(text, "!{} = {node}", number + 1);
    }
    let list: Vec<String> = (1..=nodes.len()).map(|number| format!("!{number}")).collect();
    let _ = writeln!(text, "!nvvm.annotations = !{{{}}}", list.join(", "));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn translated(module: &str) -> String {
        translate(module).unwrap_or_else(|error| panic!("{error}"))
    }

    #[test]
    fn pointers_say_to_what_they_point() {
        let text = translated(
            "@table = internal addrspace(4) constant [2 x float] [float 1.0, float 2.0], align 4\n\
             declare noundef float @bar(ptr noundef nonnull, i32 noundef) unnamed_addr #1\n\
             define ptx_kernel void @k(ptr noalias noundef align 4 captures(none) %0, i64 noundef %1) unnamed_addr #0 {\n  \
             %3 = getelementptr inbounds nuw [4 x float], ptr %0, i64 %1, i64 2\n  \
             %4 = load float, ptr addrspace(4) getelementptr inbounds (i8, ptr addrspace(4) @table, i64 4), align 4, !noundef !3\n  \
             %5 = tail call noundef float @bar(ptr noundef nonnull %3, i32 noundef 7) #2\n  \
             store float %5, ptr %0, align 4\n  ret void\n}\n\
             attributes #0 = { convergent \"nvvm.reqntid\"=\"256,1,1\" }\n",
        );
        for part in [
            "define void @k(i8* %v.0, i64 %v.1) #0 {\nv.2:\n",
            "%v.3.at = getelementptr inbounds [4 x float], [4 x float]* %v.3.from, i64 %v.1, i64 2\n",
            "%v.3 = bitcast float* %v.3.at to i8*\n",
            "%v.5 = call float @bar(i8* %v.3, i32 7)\n",
            "store float %v.5, float* %to.0, align 4\n",
            "!{void (i8*, i64)* @k, !\"kernel\", i32 1}",
            "!{void (i8*, i64)* @k, !\"reqntidx\", i32 256}",
            "@llvm.used = appending global [1 x i8*] [i8* bitcast (void (i8*, i64)* @k to i8*)]",
        ] {
            assert!(text.contains(part), "`{part}` is missing in\n{text}");
        }
    }

    #[test]
    fn what_is_newer_than_llvm_7_is_written_in_its_terms() {
        let text = translated(
            "define void @f(i32 %a, i32 %b, float %c) {\nentry:\n  \
             %m = tail call i32 @llvm.umin.i32(i32 %a, i32 %b)\n  %z = zext nneg i32 %m to i64\n  %o = or disjoint i32 %a, %b\n  \
             %n = fneg contract float %c\n  %p = freeze i32 poison\n  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)\n  \
             call void @llvm.memcpy.p0.p3.i64(ptr null, ptr addrspace(3) null, i64 4, i1 false)\n  ret void\n}\n",
        );
        for part in [
            "%m.first = icmp ult i32 %a, %b\n  %m = select i1 %m.first, i32 %a, i32 %b\n",
            "%z = zext i32 %m to i64\n",
            "%o = or i32 %a, %b\n",
            "%n = fsub contract float -0.0, %c\n",
            "%p = select i1 true, i32 undef, i32 undef\n",
            "call void @llvm.nvvm.barrier.n(i32 0)\n",
            "call void @llvm.memcpy.p0i8.p3i8.i64(i8* null, i8 addrspace(3)* null, i64 4, i1 false)\n",
        ] {
            assert!(text.contains(part), "`{part}` is missing in\n{text}");
        }
    }

    #[test]
    fn what_has_no_translation_is_shown() {
        let error = translate(
            "define void @f(ptr %p) {\n  %x = cmpxchg ptr %p, i32 0, i32 1 monotonic monotonic, align 4\n  ret void\n}\n",
        );
        assert_eq!(error.unwrap_err().0, "%x = cmpxchg ptr %p, i32 0, i32 1 monotonic monotonic, align 4");
        assert!(translate("define bfloat @f() {\n  ret bfloat 1.0\n}\n").is_err());
    }
}
