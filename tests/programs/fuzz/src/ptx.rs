//! Takes PTX apart: a module with some of its kernels, and with what those need.

use std::collections::{BTreeMap, BTreeSet};

/// PTX in pieces.
#[derive(Debug)]
pub struct Pieces<'a> {
    /// Version, target, size of addresses.
    head: Vec<&'a str>,
    /// Kernels, functions and variables, in their order.
    pieces: Vec<Declaration<'a>>,
    /// The pieces by their names: a function has one that declares it, and one that defines it.
    named: BTreeMap<&'a str, Vec<usize>>,
}

#[derive(Debug)]
struct Declaration<'a> {
    text: String,
    /// What it names, itself included.
    words: BTreeSet<&'a str>,
    /// The kernel that it is.
    kernel: Option<&'a str>,
}

impl<'a> Pieces<'a> {
    /// Reads PTX as LLVM writes it, without its debug info and comments.
    ///
    /// ```
    /// let text = ".version 8.0\n.visible .entry a()\n{\n\tret;\n}\n.visible .entry b()\n{\n\tret;\n}\n";
    /// let pieces = program_fuzz::ptx::Pieces::new(text);
    /// assert_eq!(pieces.with(&["b"]), ".version 8.0\n.visible .entry b()\n{\nret;\n}\n");
    /// ```
    pub fn new(text: &'a str) -> Self {
        let mut whole = Self { head: Vec::new(), pieces: Vec::new(), named: BTreeMap::new() };
        let mut lines = text.lines().filter_map(meaning);
        while let Some(first) = lines.next() {
            if [".version", ".target", ".address_size"].iter().any(|directive| first.starts_with(directive)) {
                whole.head.push(first);
                continue;
            }
            if first.starts_with(".section") {
                continue;
            }
            let is_function = first.contains(".func") || first.contains(".entry");
            let mut piece = vec![first];
            // A definition ends with its closing brace, a declaration and a variable with a semicolon.
            let mut depth = depth(first);
            let mut opened = depth > 0;
            while !(depth == 0 && (opened && is_function || piece[piece.len() - 1].ends_with(';'))) {
                let Some(line) = lines.next() else { break };
                depth += self::depth(line);
                opened |= depth > 0;
                piece.push(line);
            }
            whole.add(&piece, is_function);
        }
        whole
    }

    fn add(&mut self, lines: &[&'a str], is_function: bool) {
        let words: BTreeSet<_> = lines.iter().flat_map(|line| words(line)).collect();
        let text = lines.join("\n");
        let name = match is_function {
            true => function_name(lines),
            // `.global .align 8 .b8 name[16] = …;`
            false => lines[0].split(['=', '[', ';']).next().and_then(|head| head.split_whitespace().last()),
        };
        let name = name.unwrap_or_default();
        let kernel = lines[0].contains(".entry").then_some(name);
        self.named.entry(name).or_default().push(self.pieces.len());
        self.pieces.push(Declaration { text, words, kernel });
    }

    /// All of it again.
    pub fn all(&self) -> String {
        let kernels: Vec<_> = self.pieces.iter().filter_map(|piece| piece.kernel).collect();
        self.with(&kernels)
    }

    /// A module with these kernels and what they need.
    pub fn with(&self, kernels: &[&str]) -> String {
        let mut wanted = BTreeSet::new();
        let mut open: Vec<usize> =
            kernels.iter().filter_map(|name| self.named.get(name)).flatten().copied().collect();
        while let Some(piece) = open.pop() {
            if wanted.insert(piece) {
                let named = self.pieces[piece].words.iter().filter_map(|word| self.named.get(word));
                open.extend(named.flatten().filter(|other| self.pieces[**other].kernel.is_none()));
            }
        }
        let mut text = self.head.join("\n");
        for piece in wanted {
            text.push('\n');
            text += &self.pieces[piece].text;
        }
        text.push('\n');
        text
    }
}

/// The name behind `.entry`, or behind `.func` and the value that it returns, which stands in parentheses.
fn function_name<'a>(lines: &[&'a str]) -> Option<&'a str> {
    let head = lines[0].split_once(".entry").or_else(|| lines[0].split_once(".func"))?.1.trim_start();
    let head = match head.starts_with('(') {
        true => head.split_once(')')?.1,
        false => head,
    };
    // It may stand in a line of its own.
    words(head).next().or_else(|| words(lines.get(1)?).next())
}

/// A line without comments and debug info, if anything is left.
fn meaning(line: &str) -> Option<&str> {
    let line = line.split("//").next().unwrap_or_default().trim();
    let is_debug = [".loc\t", ".file\t", "$L__tmp"].iter().any(|start| line.starts_with(start));
    (!line.is_empty() && !is_debug).then_some(line)
}

fn depth(line: &str) -> isize {
    line.bytes().map(|byte| isize::from(byte == b'{') - isize::from(byte == b'}')).sum()
}

/// The identifiers in a line.
fn words(line: &str) -> impl Iterator<Item = &str> {
    line.split(|c: char| !c.is_ascii_alphanumeric() && c != '_' && c != '$').filter(|word| !word.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "//\n// by LLVM\n//\n.version 8.0\n.target sm_90\n.address_size 64\n\n\t// .globl k0\n\
        .func  (.param .b32 func_retval0) helper\n(\n\t.param .b32 helper_param_0\n)\n;\n\
        .global .align 1 .b8 text[3] = {1, 2, 3};\n.global .align 8 .u64 place[2] = {generic(text), 9};\n\
        .global .align 4 .u32 other;\n\
        .visible .entry k0(\n\t.param .u32 k0_param_0\n)\n{\n\t.local .align 8 .b8 \t__local_depot0[8];\n\t.loc\t1 2 3\n\t{ // callseq 0, 0\n\t.param .b32 param0;\n\t\
        call.uni (retval0), helper, (param0);\n\t} // callseq 0\n\tret;\n\n}\n\
        .func  (.param .b32 func_retval0) helper(\n\t.param .b32 helper_param_0\n)\n{\n\tmov.b64 %rd1, place;\n\tret;\n}\n\
        .func lonely()\n{\n\tret;\n}\n.visible .entry k1()\n{\n\tret;\n}\n\t.section\t.debug_macinfo\t{\t}\n";

    #[test]
    fn a_kernel_has_what_it_needs_in_the_order_of_the_whole() {
        let pieces = Pieces::new(TEXT);
        let text = pieces.with(&["k0"]);
        let at = |what: &str| text.find(what).unwrap_or_else(|| panic!("{what} is missing in\n{text}"));
        let declaration = at("helper\n(");
        assert!(declaration < at("text[3]") && at("text[3]") < at("place[2]") && at("place[2]") < at("k0("));
        assert!(at("k0(") < at(".local") && at(".local") < at("helper("));
        for left_out in ["k1", "other", "lonely", ".loc\t", "//", ".section"] {
            assert!(!text.contains(left_out), "{left_out} is in\n{text}");
        }
        assert!(text.starts_with(".version 8.0\n.target sm_90\n.address_size 64\n"));
    }

    #[test]
    fn a_small_kernel_is_small() {
        let text = Pieces::new(TEXT).with(&["k1"]);
        assert_eq!(text, ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k1()\n{\nret;\n}\n");
    }

    #[test]
    fn taking_pieces_of_pieces_changes_nothing() {
        let once = Pieces::new(TEXT).with(&["k0", "k1"]);
        assert_eq!(Pieces::new(&once).with(&["k0", "k1"]), once);
    }
}
