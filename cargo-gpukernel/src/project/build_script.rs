//! Build scripts: one call is added to `main`, and the rest stays as it is.

use anyhow::Context;
use syn::{Item, ReturnType};

/// The build script with a call that builds the kernels in this folder; `None` if it has it already.
///
/// # Errors
/// It is not Rust, or has no `main`.
pub(crate) fn with_call(script: &str, kernels: &str) -> anyhow::Result<Option<String>> {
    let builder = format!("gpukernel_build::Builder::new({kernels:?})");
    // However it is imported.
    if script.contains(builder.trim_start_matches("gpukernel_build::")) {
        return Ok(None);
    }
    let file = syn::parse_file(script).context("it is not valid Rust")?;
    let main = file.items.iter().find_map(|item| match item {
        Item::Fn(function) if function.sig.ident == "main" => Some(function),
        _ => None,
    });
    let main = main.context("it has no function `main`")?;
    let call = match &main.sig.output {
        ReturnType::Type(_, result) if takes_any_error(result, script) => format!("{builder}.build()?;"),
        _ => format!("{builder}.build().expect(\"the kernels do not build\");"),
    };
    let braces = main.block.brace_token.span;
    let (start, end) = (braces.open().byte_range().end, braces.close().byte_range().start);
    let (before, body, after) = (&script[..start], &script[start..end], &script[end..]);
    let indent: String = match body.split_once('\n') {
        Some((_, line)) if !line.trim().is_empty() => {
            line.chars().take_while(|c| matches!(c, ' ' | '\t')).collect()
        }
        _ => "    ".to_owned(),
    };
    // A body on one line ends on one of its own.
    let body = match body.contains('\n') {
        true => body.to_owned(),
        false if body.trim().is_empty() => "\n".to_owned(),
        false => format!("\n{indent}{}\n", body.trim()),
    };
    Ok(Some(format!("{before}\n{indent}{call}{body}{after}")))
}

/// Whether `?` makes an error of this type of one of ours.
fn takes_any_error(result: &syn::Type, script: &str) -> bool {
    let syn::Type::Path(path) = result else { return false };
    let Some(last) = path.path.segments.last().filter(|last| last.ident == "Result") else { return false };
    let libraries = ["anyhow", "eyre"];
    match &last.arguments {
        syn::PathArguments::AngleBracketed(arguments) if arguments.args.len() > 1 => {
            let Some(syn::GenericArgument::Type(syn::Type::Path(error))) = arguments.args.get(1) else {
                return false;
            };
            error
                .path
                .segments
                .iter()
                .any(|part| part.ident == "Box" || libraries.iter().any(|name| part.ident == name))
        }
        _ => {
            path.path.segments.iter().any(|part| libraries.iter().any(|name| part.ident == name))
                || libraries.iter().any(|name| script.contains(&format!("use {name}::")))
        }
    }
}

/// Whether a script tells cargo which files it depends on.
pub(crate) fn names_its_files(script: &str) -> bool {
    script.contains("rerun-if-changed")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn added(script: &str) -> String {
        with_call(script, "kernels").unwrap().unwrap()
    }

    const EXPECT: &str =
        "gpukernel_build::Builder::new(\"kernels\").build().expect(\"the kernels do not build\");";
    const TRY: &str = "gpukernel_build::Builder::new(\"kernels\").build()?;";

    #[test]
    fn the_call_comes_first_and_the_rest_stays() {
        assert_eq!(
            added("// Why.\nfn main() {\n  // Först.\n  one();\n}\n"),
            format!("// Why.\nfn main() {{\n  {EXPECT}\n  // Först.\n  one();\n}}\n")
        );
        assert_eq!(added("/* ö */ fn main() {}\n"), format!("/* ö */ fn main() {{\n    {EXPECT}\n}}\n"));
        assert_eq!(added("fn main() { one() }"), format!("fn main() {{\n    {EXPECT}\n    one()\n}}"));
    }

    #[test]
    fn errors_are_returned_where_main_can() {
        for result in
            ["Result<(), Box<dyn std::error::Error>>", "anyhow::Result<()>", "Result<(), anyhow::Error>"]
        {
            let script = added(&format!("fn main() -> {result} {{\n    Ok(())\n}}\n"));
            assert_eq!(script, format!("fn main() -> {result} {{\n    {TRY}\n    Ok(())\n}}\n"));
        }
        assert!(added("use anyhow::Result;\nfn main() -> Result<()> {\n    Ok(())\n}\n").contains(TRY));
        for result in ["std::io::Result<()>", "Result<(), Mine>", "std::process::ExitCode"] {
            assert!(
                added(&format!("fn main() -> {result} {{\n    todo!()\n}}\n")).contains(EXPECT),
                "{result}"
            );
        }
    }

    #[test]
    fn a_script_with_the_call_stays_as_it_is() {
        let script = "use gpukernel_build::Builder;\nfn main() {\n    Builder::new(\"kernels\").build().unwrap();\n}\n";
        assert_eq!(with_call(script, "kernels").unwrap(), None);
        assert!(with_call(script, "others").unwrap().is_some());
    }

    #[test]
    fn scripts_that_are_none() {
        let error = |script| format!("{:#}", with_call(script, "kernels").unwrap_err());
        assert!(error("fn main( {").starts_with("it is not valid Rust: "));
        assert_eq!(error("fn other() {}"), "it has no function `main`");
    }
}
