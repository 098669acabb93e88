use super::*;

fn text(condition: &str) -> Result<String> {
    syn::parse_str::<Condition>(condition).map(|condition| condition.text())
}

/// The condition with parentheses around every operation.
fn grouped(expr: &Expr) -> String {
    match expr {
        Expr::Binary { operator, left, right, .. } => {
            format!("({} {} {})", grouped(left), operator.text, grouped(right))
        }
        Expr::Cast { operand, to } => format!("({} as {to})", grouped(operand)),
        Expr::Unary { operator: Unary::Not, operand, .. } => format!("(!{})", grouped(operand)),
        Expr::Unary { operator: Unary::Negate, operand, .. } => format!("(-{})", grouped(operand)),
        Expr::Paren(inside) => grouped(inside),
        leaf => leaf.text(),
    }
}

#[test]
fn operators_bind_as_in_rust() {
    for (condition, expected) in [
        ("a + b * c - d", "((a + (b * c)) - d)"),
        ("a < b && c >= d || !e", "(((a < b) && (c >= d)) || (!e))"),
        ("a | b ^ c & d << e + f", "(a | (b ^ (c & (d << (e + f)))))"),
        ("a & b == c", "((a & b) == c)"),
        ("-a as u32 % b != c", "(((-a) as u32) % b) != c"),
        ("a as usize * b <= x.len()", "((a as usize) * b) <= x.len()"),
        ("a as u32 < (b)", "((a as u32) < b)"),
        ("(a + b) * c > u32::MAX", "((a + b) * c) > u32::MAX"),
        ("a - -b == !!c", "((a - (-b)) == (!(!c)))"),
        ("a << b >> c", "((a << b) >> c)"),
    ] {
        let parsed = syn::parse_str::<Condition>(condition).unwrap();
        let grouped = grouped(&parsed.root);
        let inside = grouped.strip_prefix('(').and_then(|text| text.strip_suffix(')')).unwrap();
        assert!(grouped == expected || inside == expected, "{condition}: {grouped}");
    }
}

#[test]
fn text_is_as_written() {
    let condition = "x.len() >= (y.len() + 1) * crate::sizes::LIMIT && !x.is_empty() && step as u64 > -1";
    assert_eq!(text(&condition.replace(' ', "  ")).unwrap(), condition);
}

#[test]
fn macros_pass_expressions_on_in_groups() {
    let sum: TokenStream = "a + b".parse().unwrap();
    let group = proc_macro2::Group::new(Delimiter::None, sum);
    let condition: Condition = syn::parse2(quote!(2 * #group == c)).unwrap();
    assert_eq!(grouped(&condition.root), "((2 * (a + b)) == c)");
    let two = proc_macro2::Group::new(Delimiter::None, quote!(2));
    let condition: Condition = syn::parse2(quote!(#two * #group == c)).unwrap();
    assert_eq!(condition.text(), "2 * (a + b) == c");
}

#[test]
fn what_could_run_code_of_the_program_is_refused() {
    for condition in [
        "",
        "f(x)",
        "x.len().pow(2) > 1",
        "x.min(y) > 1",
        "x.0 > 1",
        "x.len > 1",
        "x.len(1) > 1",
        "x.y.len() > 1",
        "(x + y).len() > 1",
        "F(x)",
        "LIMIT() > 1",
        "u32::max(a, b) > 1",
        "size_of::<u32>() > 1",
        "<T as Trait>::N > 1",
        "cfg!(debug_assertions)",
        "{ true }",
        "if a { b } else { c }",
        "match a { _ => true }",
        "|| true",
        "&a == &b",
        "*a == b",
        "a..b",
        "a = b",
        "a += b",
        "a < b < c",
        "a == b == c",
        "a as T > 1",
        "a as f32 > 1.0",
        "a as bool",
        "a as ::core::primitive::u32 > 1",
        "[1, 2].len() > 1",
        "Self::N > 1",
        "Point { x: 1 }",
        "\"text\".len() > 1",
        "'c' > 'b'",
        "return",
        "unsafe { a }",
        "a?",
        "x[0] > 1",
        "a;",
    ] {
        assert!(text(condition).is_err(), "{condition}");
    }
}
