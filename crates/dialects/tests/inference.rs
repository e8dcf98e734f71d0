//! Type inference against the tables in `spec/`.

mod support;

use support::{Case, cases, infer, parse_type, split, type_text};
use tangram_affine::symbolic::Expr;
use tangram_ir::{Attr, AttrData, Context};

fn elements_text(context: &Context, attr: Attr) -> String {
    let AttrData::Array(items) = context.attr_data(attr) else { panic!("contents are an array") };
    let text = |&item: &Attr| match context.attr_data(item) {
        AttrData::Integer { value, .. } => value.to_string(),
        AttrData::String(text) => context.text(*text).to_owned(),
        _ => "?".to_owned(),
    };
    format!("({})", items.iter().map(text).collect::<Vec<_>>().join(", "))
}

/// What is expected, with every expression in normal form.
fn normal(context: &Context, expected: &str) -> String {
    let one = |text: &String| {
        let (ty, elements) =
            text.split_once(" = ").map_or((&text[..], None), |(t, e)| (t, Some(e)));
        let ty = type_text(context, parse_type(context, ty));
        let Some(elements) = elements else { return ty };
        let inner = elements.trim_start_matches('(').strip_suffix(')').unwrap();
        let form = |text: &String| match text.as_str() {
            "?" => "?".to_owned(),
            text => text.parse::<Expr>().unwrap().to_string(),
        };
        let list: Vec<String> = split(inner).iter().map(form).collect();
        format!("{ty} = ({})", list.join(", "))
    };
    split(expected).iter().map(one).collect::<Vec<_>>().join(", ")
}

fn failure(case: &Case) -> Option<String> {
    let (module, inferred) = infer(case);
    let context = module.context();
    let wants_contents = case.expected.contains(" = ");
    let (found, fine) = match inferred {
        Err(error) => {
            let error = error.to_string();
            let wanted = case.expected.strip_prefix("error: ");
            let fine = wanted.is_some_and(|text| error.contains(text));
            (format!("error: {error}"), fine)
        }
        Ok(inferred) => {
            let one = |(i, &ty): (usize, &tangram_ir::Type)| {
                let contents = inferred.contents.get(i).copied().flatten();
                match contents.filter(|_| wants_contents) {
                    Some(attr) => {
                        format!("{} = {}", type_text(context, ty), elements_text(context, attr))
                    }
                    None => type_text(context, ty),
                }
            };
            let found: Vec<String> = inferred.types.iter().enumerate().map(one).collect();
            let found = found.join(", ");
            let fine =
                !case.expected.starts_with("error") && found == normal(context, &case.expected);
            (found, fine)
        }
    };
    (!fine).then(|| {
        format!("{}: {}\n  expected {}\n  found    {found}", case.place, case.name, case.expected)
    })
}

#[test]
fn types_are_inferred_as_specified() {
    let cases = cases();
    let failures: Vec<String> = cases.iter().filter_map(failure).collect();
    assert!(failures.is_empty(), "{} of {}:\n{}", failures.len(), cases.len(), failures.join("\n"));
}

#[test]
fn every_operation_with_inference_is_specified() {
    let named: std::collections::HashSet<String> =
        cases().into_iter().map(|case| format!("nn.{}", case.name)).collect();
    let missing: Vec<&str> = tangram_dialects::nn::ops()
        .filter(|op| op.def.infer.is_some() && !named.contains(op.def.name))
        .map(|op| op.def.name)
        .collect();
    assert!(missing.is_empty(), "no line of spec/ applies {missing:?}");
}
