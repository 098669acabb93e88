//! A line of LLVM IR, read from left to right.

use super::Untranslatable;

/// What is left of a line.
#[derive(Clone)]
pub(super) struct Reader<'a> {
    line: &'a str,
    rest: &'a str,
}

impl<'a> Reader<'a> {
    pub(super) fn new(line: &'a str) -> Self {
        Self { line, rest: line.trim() }
    }

    pub(super) fn rest(&self) -> &'a str {
        self.rest
    }

    /// Whether this comes next: a word as a whole, marks as they are.
    pub(super) fn peek(&self, token: &str) -> bool {
        let Some(after) = self.rest.strip_prefix(token) else { return false };
        let ends_in_word = token.ends_with(is_in_word);
        !ends_in_word || !after.starts_with(is_in_word)
    }

    /// Takes it, if it comes next.
    pub(super) fn eat(&mut self, token: &str) -> bool {
        let found = self.peek(token);
        if found {
            self.rest = self.rest[token.len()..].trim_start();
        }
        found
    }

    /// Takes any of these, as often as they come.
    pub(super) fn eat_all(&mut self, tokens: &[&str]) {
        while tokens.iter().any(|token| self.eat(token)) {}
    }

    pub(super) fn expect(&mut self, token: &str) -> Result<(), Untranslatable> {
        if self.eat(token) { Ok(()) } else { Err(self.untranslatable()) }
    }

    /// Takes a word, which is empty if marks come next.
    pub(super) fn word(&mut self) -> &'a str {
        let end = self.rest.find(|c| !is_in_word(c)).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest.trim_start();
        word
    }

    /// Takes `%name`, `@"na me"` and the like.
    pub(super) fn name(&mut self) -> Result<String, Untranslatable> {
        let sigil =
            self.rest.chars().next().filter(|c| "%@!#".contains(*c)).ok_or_else(|| self.untranslatable())?;
        let after = &self.rest[1..];
        let length = match after.strip_prefix('"') {
            Some(quoted) => quoted.find('"').ok_or_else(|| self.untranslatable())? + 2,
            None => after.find(|c| !is_in_name(c)).unwrap_or(after.len()),
        };
        let (name, rest) = after.split_at(length);
        self.rest = rest.trim_start();
        // Old LLVM wants numbers without gaps, and we add instructions.
        let is_number = sigil == '%' && !name.is_empty() && name.chars().all(|c| c.is_ascii_digit());
        Ok(match sigil {
            _ if is_number => format!("%v.{name}"),
            // Without quotes, so that names can be made of it.
            '%' if name.starts_with('"') => format!("%{}", name.replace(|c| !is_in_name(c), "_")),
            _ => format!("{sigil}{name}"),
        })
    }

    /// Takes what is in parentheses, if they come next, with those in it.
    pub(super) fn parenthesised(&mut self) -> Option<&'a str> {
        let inner = self.rest.strip_prefix('(')?;
        let mut depth = 1;
        let mut is_quoted = false;
        for (at, character) in inner.char_indices() {
            match character {
                '"' => is_quoted = !is_quoted,
                '(' if !is_quoted => depth += 1,
                ')' if !is_quoted => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                self.rest = inner[at + 1..].trim_start();
                return Some(&inner[..at]);
            }
        }
        None
    }

    /// Takes text in quotes, with them.
    pub(super) fn quoted(&mut self) -> Result<&'a str, Untranslatable> {
        let inner = self.rest.strip_prefix('"').ok_or_else(|| self.untranslatable())?;
        let end = inner.find('"').ok_or_else(|| self.untranslatable())?;
        let (text, rest) = self.rest.split_at(end + 2);
        self.rest = rest.trim_start();
        Ok(text)
    }

    /// The error that this line is not understood.
    pub(super) fn untranslatable(&self) -> Untranslatable {
        Untranslatable(self.line.trim().to_owned())
    }
}

fn is_in_word(character: char) -> bool {
    character.is_ascii_alphanumeric() || "_.-+".contains(character)
}

fn is_in_name(character: char) -> bool {
    character.is_ascii_alphanumeric() || "_.-$".contains(character)
}
