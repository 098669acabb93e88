//! Takes PTX apart: a module with some of its kernels, and with what those need.

use std::collections::{BTreeMap, BTreeSet};

/// PTX in pieces.
#[derive(Debug)]
pub struct Pieces<'a> {
    /// Version, target, size of addresses.
    head: Vec<&'a str>,
    /// Kernels, functions and variables, in their order.
    pieces: Vec<Piece<'a>>,
    /// The pieces by their names: a function has one that declares it, and one that defines it.
    named: BTreeMap<&'a str, Vec<usize>>,
}

#[derive(Debug)]
struct Piece<'a> {
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
        let declaration = lines.iter().copied().find(|line| line.contains('(') || !is_function).unwrap_or_default();
        let name = match is_function {
            // Behind the value that it returns, if it returns one.
            true => lines[0]
                .rsplit_once(".entry ")
                .or_else(|| lines[0].rsplit_once(')'))
                .or_else(|| lines[0].rsplit_once(".func "))
                .map_or(declaration, |(_, rest)| rest),
            false => declaration.split(['=', '[', ';']).next().and_then(|head| head.split_whitespace().last()).unwrap_or_default(),
        };
        let name = self::words(name).next().unwrap_or_default();
        let kernel = lines[0].contains(".entry").then_some(name);
        self.named.entry(name).or_default().push(self.pieces.len());
        self.pieces.push(Piece { text: lines.join("\n"), words, kernel });
    }

    /// All of it again.
    pub fn all(&self) -> String {
        let kernels: Vec<_> = self.pieces.iter().filter_map(|piece| piece.kernel).collect();
        self.with(&kernels)
    }

    /// A module with these kernels and what they need.
    pub fn with(&self, kernels: &[&str]) -> String {
        let mut wanted = BTreeSet::new();
        let mut open: Vec<usize> = kernels.iter().filter_map(|name| self.named.get(name)).flatten().copied().collect();
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

/// A line without comments and debug info, if anything is left.
fn meaning(line: &str) -> Option<&str> {
    let line = line.split("//").next().unwrap_or_default().trim();
    let is_debug = [".loc", ".file", "$L__tmp"].iter().any(|start| line.starts_with(start));
    (!line.is_empty() && !is_debug).then_some(line)
}

fn depth(line: &str) -> isize {
    line.bytes().map(|byte| isize::from(byte == b'{') - isize::from(byte == b'}')).sum()
}

/// The identifiers in a line.
fn words(line: &str) -> impl Iterator<Item = &str> {
    line.split(|c: char| !c.is_ascii_alphanumeric() && c != '_' && c != '$').filter(|word| !word.is_empty())
}
