//! Package index: where a Python package index keeps a file, read from its "simple" pages (PEP 503).
//!
//! Only HTML is asked for: every index and mirror has it, and only some have the JSON form.

use iri_string::{
    format::ToDedicatedString,
    types::{UriAbsoluteStr, UriReferenceStr},
};
use ureq::Agent;

use super::{SetupError, download};
use crate::toolchain::Environment;

const PYPI: &str = "https://pypi.org/simple";

/// A package index.
#[derive(Debug, Clone)]
pub(super) struct Index {
    base: String,
}

impl Index {
    /// The one that pip and uv would use, else PyPI.
    pub(super) fn of(environment: &Environment) -> Self {
        let base = ["PIP_INDEX_URL", "UV_DEFAULT_INDEX", "UV_INDEX_URL"]
            .iter()
            .find_map(|name| environment.get(name)?.to_str())
            .unwrap_or(PYPI);
        Self { base: base.trim_end_matches('/').to_owned() }
    }

    /// The page that lists a project's files.
    pub(super) fn page(&self, project: &str) -> String {
        format!("{}/{project}/", self.base)
    }

    /// The address of a project's file.
    pub(super) fn locate(
        &self,
        agent: &Agent,
        project: &str,
        file: &str,
        directory: &std::path::Path,
    ) -> Result<String, SetupError> {
        let url = self.page(project);
        let unreachable = |reason| SetupError::Unreachable {
            url: url.clone(),
            reason,
            file: file.to_owned(),
            directory: directory.to_owned(),
        };
        let (status, html) = download::page(agent, &url).map_err(unreachable)?;
        if status.is_server_error() {
            return Err(unreachable(format!("the server answered {status}")));
        }
        match links(&html).find(|(_, text)| text == file) {
            Some((href, _)) => join(&url, &href).map_err(unreachable),
            None => Err(SetupError::NotInIndex { file: file.to_owned(), url: url.clone() }),
        }
    }
}

/// The links of a page: target without its fragment, and text.
fn links(html: &str) -> impl Iterator<Item = (String, String)> {
    html.split("<a ").skip(1).filter_map(|anchor| {
        let (attributes, rest) = anchor.split_once('>')?;
        let (text, _) = rest.split_once("</a>")?;
        let (_, href) = attributes.split_once("href=")?;
        let quote = href.chars().next().filter(|c| matches!(c, '"' | '\''))?;
        let (href, _) = href[1..].split_once(quote)?;
        let href = href.split('#').next().unwrap_or(href);
        Some((href.replace("&amp;", "&"), text.trim().to_owned()))
    })
}

/// A link's target, which may be relative to its page (RFC 3986). Otherwise the reason why it is no address.
fn join(page: &str, href: &str) -> Result<String, String> {
    let no_address = |text: &str| format!("`{text}` is no address");
    let page_url = UriAbsoluteStr::new(page).map_err(|_| no_address(page))?;
    let target = UriReferenceStr::new(href).map_err(|_| no_address(href))?;
    Ok(target.resolve_against(page_url).to_dedicated_string().into())
}

#[cfg(test)]
mod tests {
    use super::{super::testing::Server, *};

    #[test]
    fn links_in_every_form() {
        let html = r#"<!DOCTYPE html><html><head><title>Links for a</title></head><body><h1>Links for a</h1>
            <a href="https://files.example/x/a-1.whl#sha256=00" data-requires-python="&gt;=3">a-1.whl</a><br/>
            <a data-yanked="" href='../../packages/a-2.whl?x=1&amp;y=2'>
              a-2.whl </a>"#;
        let found: Vec<_> = links(html).collect();
        assert_eq!(found[0], ("https://files.example/x/a-1.whl".to_owned(), "a-1.whl".to_owned()));
        assert_eq!(found[1], ("../../packages/a-2.whl?x=1&y=2".to_owned(), "a-2.whl".to_owned()));
    }

    #[test]
    fn targets_relative_to_the_page() {
        let joined = |href| join("https://mirror.example/pypi/simple/a/", href).unwrap();
        assert_eq!(joined("https://x.example/a.whl"), "https://x.example/a.whl");
        assert_eq!(joined("a.whl"), "https://mirror.example/pypi/simple/a/a.whl");
        assert_eq!(joined("../../packages/a.whl"), "https://mirror.example/pypi/packages/a.whl");
        assert_eq!(joined("/packages/a.whl"), "https://mirror.example/packages/a.whl");
        assert_eq!(joined("//cdn.example/a.whl"), "https://cdn.example/a.whl");
        assert_eq!(joined("a-1%2Bcu13.whl?x=1"), "https://mirror.example/pypi/simple/a/a-1%2Bcu13.whl?x=1");
        assert_eq!(join("https://x.example/a/", "a b.whl").unwrap_err(), "`a b.whl` is no address");
        assert_eq!(join("x.example/a/", "a.whl").unwrap_err(), "`x.example/a/` is no address");
    }

    #[test]
    fn the_index_that_pip_would_use() {
        let environment = Environment::default();
        assert_eq!(Index::of(&environment).page("a"), "https://pypi.org/simple/a/");
        let environment = environment.with("UV_INDEX_URL", "https://uv.example/simple/");
        assert_eq!(Index::of(&environment).page("a"), "https://uv.example/simple/a/");
        let environment = environment.with("PIP_INDEX_URL", "https://pip.example/simple");
        assert_eq!(Index::of(&environment).page("a"), "https://pip.example/simple/a/");
    }

    #[test]
    fn a_file_that_the_index_lacks() {
        let server = Server::start().file("/simple/a/", "<a href='a-1.whl'>a-1.whl</a>");
        let index = Index::of(&Environment::default().with("PIP_INDEX_URL", server.url("/simple")));
        let agent = download::agent();
        let dir = std::path::Path::new("downloads");
        assert_eq!(index.locate(&agent, "a", "a-1.whl", dir).unwrap(), server.url("/simple/a/a-1.whl"));
        for project in ["a", "b"] {
            let error = index.locate(&agent, project, "a-2.whl", dir).unwrap_err().to_string();
            assert!(error.starts_with("the package index has no a-2.whl"), "{error}");
        }
    }
}
