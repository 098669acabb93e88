//! Edits of a `Cargo.toml` that keep its comments and its order.

use std::path::{Path, PathBuf};

use anyhow::Context;
use toml_edit::{Array, DocumentMut, InlineTable, Item, Table, TableLike, Value};

/// What packages of a workspace inherit if it says it for them, as those of `cargo new` do.
const INHERITED: [&str; 9] = [
    "authors",
    "edition",
    "homepage",
    "license",
    "license-file",
    "publish",
    "repository",
    "rust-version",
    "version",
];

/// A manifest that is being edited.
#[derive(Clone, Debug)]
pub(crate) struct Manifest {
    path: PathBuf,
    document: DocumentMut,
}

impl Manifest {
    pub(crate) fn parse(path: &Path, text: &str) -> anyhow::Result<Self> {
        let document = text.parse().with_context(|| format!("{} is broken", path.display()))?;
        Ok(Self { path: path.to_owned(), document })
    }

    pub(crate) fn text(&self) -> String {
        self.document.to_string()
    }

    pub(crate) fn is_workspace(&self) -> bool {
        self.document.contains_key("workspace")
    }

    /// A table by its path, if it is there.
    pub(crate) fn get(&self, keys: &[&str]) -> Option<&dyn TableLike> {
        self.item(keys)?.as_table_like()
    }

    /// A text by its path.
    pub(crate) fn text_of(&self, keys: &[&str]) -> Option<&str> {
        self.item(keys)?.as_str()
    }

    pub(crate) fn item(&self, keys: &[&str]) -> Option<&Item> {
        keys.iter().try_fold(self.document.as_item(), |item, key| item.get(key))
    }

    /// A table by its path, made if it is not there.
    fn table(&mut self, keys: &[&str]) -> anyhow::Result<&mut dyn TableLike> {
        let Self { path, document } = self;
        let mut table: &mut dyn TableLike = document.as_table_mut();
        for (depth, key) in keys.iter().enumerate() {
            let made = || {
                let mut made = Table::new();
                // Tables that hold nothing but tables have no header.
                made.set_implicit(depth + 1 < keys.len());
                Item::Table(made)
            };
            table = table.entry(key).or_insert_with(made).as_table_like_mut().with_context(|| {
                format!("`{}` in {} is not a table", keys[..=depth].join("."), path.display())
            })?;
        }
        Ok(table)
    }

    /// Sets a value, unless there is one; in a table whose keys are sorted, where it belongs.
    pub(crate) fn set_default(
        &mut self,
        keys: &[&str],
        key: &str,
        value: impl Into<Item>,
    ) -> anyhow::Result<()> {
        let table = self.table(keys)?;
        if table.contains_key(key) {
            return Ok(());
        }
        let is_sorted = table.len() > 1 && table.iter().is_sorted_by_key(|(key, _)| key);
        table.insert(key, value.into());
        if is_sorted {
            table.sort_values();
        }
        Ok(())
    }

    /// Sets or replaces a value.
    pub(crate) fn set(&mut self, keys: &[&str], key: &str, value: impl Into<Item>) -> anyhow::Result<()> {
        self.table(keys)?.insert(key, value.into());
        Ok(())
    }

    pub(crate) fn remove(&mut self, key: &str) {
        self.document.remove(key);
    }

    /// Makes it a workspace of its own, for packages below it too.
    pub(crate) fn make_workspace(&mut self) -> anyhow::Result<()> {
        self.table(&["workspace"]).map(|_| ())
    }

    /// Adds a folder to a list of the workspace, `members` or `exclude`.
    pub(crate) fn add_to_workspace(&mut self, list: &str, folder: &str) -> anyhow::Result<()> {
        let path = self.path.clone();
        let list = self.table(&["workspace"])?.entry(list).or_insert_with(|| Array::new().into());
        let list = list.as_array_mut().with_context(|| format!("a list in {} is none", path.display()))?;
        // As the entry before it stands: on a line of its own, or behind it.
        let before = list.iter().last().and_then(|last| last.decor().prefix()?.as_str().map(str::to_owned));
        let mut value = Value::from(folder);
        value.decor_mut().set_prefix(match before {
            Some(before) if before.contains('\n') => {
                let indent = before.rsplit('\n').next().unwrap_or_default();
                // A comment behind the last entry stays there.
                let comment = list.trailing().as_str().unwrap_or_default().trim_end().to_owned();
                list.set_trailing("\n");
                format!("{comment}\n{indent}")
            }
            Some(_) => " ".to_owned(),
            None => String::new(),
        });
        list.push_formatted(value);
        Ok(())
    }

    /// Inherits from this workspace what packages can, their lints too.
    pub(crate) fn inherit_from(&mut self, workspace: &Self) -> anyhow::Result<()> {
        for key in INHERITED {
            if workspace.item(&["workspace", "package", key]).is_some() {
                self.set(&["package"], key, inherited())?;
            }
        }
        if workspace.item(&["workspace", "lints"]).is_some() {
            self.set(&["lints"], "workspace", Value::from(true))?;
        }
        Ok(())
    }
}

/// `{ workspace = true }`, as `.workspace = true`.
pub(crate) fn inherited() -> Item {
    let mut table = Table::new();
    table.set_dotted(true);
    table.insert("workspace", Value::from(true).into());
    Item::Table(table)
}

/// `{ key = value }`
pub(crate) fn inline(key: &str, value: impl Into<Value>) -> Value {
    let mut table = InlineTable::new();
    table.insert(key, value.into());
    table.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edited(text: &str, edit: impl Fn(&mut Manifest) -> anyhow::Result<()>) -> String {
        let mut manifest = Manifest::parse(Path::new("/p/Cargo.toml"), text).unwrap();
        edit(&mut manifest).unwrap();
        manifest.text()
    }

    #[test]
    fn dependencies_keep_the_order_and_the_comments() {
        let add = |manifest: &mut Manifest| manifest.set_default(&["dependencies"], "b", Value::from("1"));
        let sorted = "[dependencies]\n# first\na = \"1\" # kept\n# last\nc = \"1\"\n\n[features]\n";
        assert_eq!(
            edited(sorted, add),
            "[dependencies]\n# first\na = \"1\" # kept\nb = \"1\"\n# last\nc = \"1\"\n\n[features]\n"
        );
        let unsorted = "[dependencies]\nc = \"1\"\na = \"1\"\n";
        assert_eq!(edited(unsorted, add), "[dependencies]\nc = \"1\"\na = \"1\"\nb = \"1\"\n");
        let there = "[dependencies.b]\npath = \"b\"\n";
        assert_eq!(edited(there, add), there);
        assert_eq!(edited("[package]\n", add), "[package]\n\n[dependencies]\nb = \"1\"\n");
    }

    #[test]
    fn profiles_are_one_table() {
        let add = |manifest: &mut Manifest| {
            manifest.set_default(&["profile", "dev", "package"], "k", inline("opt-level", 3))
        };
        assert_eq!(edited("", add), "[profile.dev.package]\nk = { opt-level = 3 }\n");
        assert_eq!(
            edited("[profile.dev]\ndebug = 1\n", add),
            "[profile.dev]\ndebug = 1\n\n[profile.dev.package]\nk = { opt-level = 3 }\n"
        );
        let there = "[profile.dev.package.k]\nopt-level = 1\n";
        assert_eq!(edited(there, add), there);
    }

    #[test]
    fn members_stand_as_those_before_them() {
        let add = |manifest: &mut Manifest| manifest.add_to_workspace("members", "c");
        assert_eq!(
            edited("[workspace]\nmembers = [\"a\"]\n", add),
            "[workspace]\nmembers = [\"a\", \"c\"]\n"
        );
        assert_eq!(
            edited("[workspace]\nmembers = [\n    \"a\",\n    \"b\", # why\n]\n", add),
            "[workspace]\nmembers = [\n    \"a\",\n    \"b\", # why\n    \"c\",\n]\n"
        );
        assert_eq!(edited("[workspace]\n", add), "[workspace]\nmembers = [\"c\"]\n");
    }

    #[test]
    fn packages_inherit_what_the_workspace_says() {
        let workspace =
            "[workspace.package]\nedition = \"2021\"\n[workspace.lints.rust]\nunsafe_code = \"deny\"\n";
        let workspace = Manifest::parse(Path::new("/p/Cargo.toml"), workspace).unwrap();
        let text = edited("[package]\nname = \"a\"\nedition = \"2024\"\n", |manifest| {
            manifest.inherit_from(&workspace)
        });
        assert_eq!(text, "[package]\nname = \"a\"\nedition.workspace = true\n\n[lints]\nworkspace = true\n");
    }
}
