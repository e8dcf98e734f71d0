//! Rule collections of other optimisers: small ones in each format, read, checked and verified.

use std::sync::Arc;

use tangram_gsl::check::check_file;
use tangram_gsl::diagnostic::Sources;
use tangram_gsl::import::{ImportError, Imported, taso, tensat};
use tangram_gsl::rules::Natives;
use tangram_gsl::schema::NnSchema;
use tangram_gsl::text::{NoImports, load, parse};
use tangram_gsl::verify::{Effort, Verdict, verify};

/// The rules, which are parsed again, with the verdict on each.
fn verdicts(imported: &Imported) -> Vec<Verdict> {
    let rules = parse(&imported.text).unwrap_or_else(|e| panic!("{e}\n{}", imported.text));
    assert_eq!(rules.len(), imported.rules);
    let (context, natives) = (tangram_dialects::context(), Arc::new(Natives::default()));
    let verdict = |rule| verify(rule, &context, &natives, &Effort::default());
    rules.iter().map(|rule| verdict(rule).unwrap_or_else(|e| panic!("{e}"))).collect()
}

#[test]
fn terms_become_rules() {
    let list = "(ewadd (matmul ?a ?c) (matmul ?b ?c))=>(matmul (ewadd ?a ?b) ?c)
        (ewmul ?a (ewadd ?b ?c))=>(ewadd (ewmul ?a ?b) (ewmul ?a ?c))
        (relu (relu ?a)) => (relu ?a)
        (matmul ?a ?b)=>(matmul ?b ?a)
        (smul (matmul ?a ?b) ?n)=>(matmul ?a (smul ?b ?n))
        (conv2d 1 1 0 2 ?x (Iconv 3 3))=>(relu ?x)
        (relu ?a)=>(ewadd ?a ?b)
        ";
    let imported = tensat(list, false).expect("a list");
    assert_eq!(imported.rules, 5, "{}", imported.text);
    let reasons: Vec<_> = imported.left_out.iter().map(|(n, reason)| (*n, &**reason)).collect();
    assert_eq!(reasons[0].0, 5);
    assert!(reasons[0].1.contains("`Iconv`"), "{reasons:?}");
    assert_eq!(reasons[1], (6, "the target reads what the source does not"));
    let found = verdicts(&imported);
    // The fourth exchanges matrices.
    let right: Vec<bool> = found.iter().map(Verdict::holds).collect();
    assert_eq!(right, [true, true, true, false, true], "{found:?}");
    assert!(found[3].is_wrong());
}

#[test]
fn convolutions_have_one_group() {
    let add = "(ewadd (conv2d 1 1 0 0 ?x ?v) (conv2d 1 1 0 0 ?x ?w))=>\
               (conv2d 1 1 0 0 ?x (ewadd ?v ?w))";
    let join = "(ewadd (conv2d 1 1 1 0 ?x ?v) (conv2d 1 1 1 0 ?y ?w))=>\
                (conv2d 1 1 1 0 (concat 1 4 ?x ?y) (concat 1 4 ?v ?w))";
    let imported = tensat(&format!("{add}\n{join}"), false).expect("a list");
    let found = verdicts(&imported);
    assert!(found.iter().all(Verdict::holds), "{} {}", found[0], found[1]);
    assert!(imported.text.contains("padding = [0, 0, 0, 0]"), "{}", imported.text);
}

#[test]
fn pairs_are_rules_of_two_outputs() {
    let pair = "(matmul ?x ?v)=>(split_0 (split 1 (matmul ?x (concat 1 2 ?v ?w))))
        (matmul ?x ?w)=>(split_1 (split 1 (matmul ?x (concat 1 2 ?v ?w))))";
    let imported = tensat(pair, true).expect("a list");
    assert_eq!(imported.rules, 1, "{}", imported.text);
    assert!(imported.text.contains("match s0, s1;"), "{}", imported.text);
    // The number behind an axis is a rank: of batches of matrices the axis is another one.
    assert!(imported.text.contains("i1.ndim == 2"), "{}", imported.text);
    let found = verdicts(&imported).remove(0);
    assert!(found.holds(), "{found}");
}

#[test]
fn what_is_no_list_is_told() {
    let reason = |text: &str| match tensat(text, false) {
        Err(ImportError::Line { line, reason }) => (line, reason),
        other => panic!("{other:?}"),
    };
    assert_eq!(reason("(relu ?a)").0, 1);
    assert_eq!(reason("\n(relu ?a)=>(relu ?a"), (2, "a parenthesis is not closed".to_owned()));
    assert_eq!(reason("(relu ?a))=>?a").1, "`)` after the end of the term");
    assert_eq!(reason(")=>?a").1, "a parenthesis is closed that is not open");
    assert_eq!(reason("?a=>").1, "there is no term");
    // Depth is no danger.
    let deep = format!("{}?a{}", "(relu ".repeat(100_000), ")".repeat(100_000));
    assert!(tensat(&format!("{deep}=>?a"), false).is_ok());
}

/// Writes a field of a message: a number, or a message with its length.
fn number(tag: u8, value: i32) -> Vec<u8> {
    let (mut out, mut rest) = (vec![tag << 3], i64::from(value) as u64);
    while rest >= 128 {
        out.push(rest as u8 | 128);
        rest >>= 7;
    }
    out.push(rest as u8);
    out
}

fn message(tag: u8, fields: &[Vec<u8>]) -> Vec<u8> {
    let body = fields.concat();
    let mut out = vec![tag << 3 | 2];
    out.extend_from_slice(&number(0, body.len() as i32)[1..]);
    out.extend(body);
    out
}

fn application(tag: u8, kind: i32, inputs: &[(i32, i32)], parameters: &[(i32, i32)]) -> Vec<u8> {
    let mut fields = vec![number(1, kind)];
    fields.extend(inputs.iter().map(|(op, ts)| message(2, &[number(1, *op), number(2, *ts)])));
    fields.extend(parameters.iter().map(|(k, v)| message(3, &[number(1, *k), number(2, *v)])));
    message(tag, &fields)
}

#[test]
fn messages_become_rules() {
    let mapped = message(3, &[number(1, 1), number(2, 0), number(3, 0), number(4, 0)]);
    // relu(relu(x)) is relu(x).
    let relu = [
        application(1, 8, &[(-1, 0)], &[]),
        application(1, 8, &[(0, 0)], &[]),
        application(2, 8, &[(-1, 0)], &[]),
        mapped,
    ];
    // Two products with one matrix each, joined: (18 matmul, 12 concat along 1, 13 split).
    let none = &[(9, 0)][..];
    let matmul = [
        application(1, 18, &[(-1, 0), (-2, 0)], none),
        application(1, 18, &[(-1, 0), (-3, 0)], none),
        application(2, 12, &[(-2, 0), (-3, 0)], &[(10, 2), (11, 1)]),
        application(2, 18, &[(-1, 0), (0, 0)], none),
        application(2, 13, &[(1, 0)], &[(11, 1)]),
        message(3, &[number(1, 0), number(2, 2), number(3, 0), number(4, 0)]),
        message(3, &[number(1, 1), number(2, 2), number(3, 0), number(4, 1)]),
    ];
    // A convolution of 3 by 3 with relu, and an operator that nothing stands for.
    let conv = [
        application(1, 3, &[(-1, 0), (-2, 0)], &[(4, 3), (5, 3), (6, 1), (7, 1), (8, 0), (9, 2)]),
        application(2, 20, &[(-1, 0), (-2, 0)], &[]),
        message(3, &[number(1, 0), number(2, 0), number(3, 0), number(4, 0)]),
    ];
    let bytes: Vec<u8> = [message(1, &relu), message(1, &matmul), message(1, &conv)].concat();
    let imported = taso(&bytes).expect("a collection");
    assert_eq!((imported.rules, imported.left_out.len()), (2, 1), "{}", imported.text);
    assert!(imported.left_out[0].1.contains("operator 20"));
    assert!(imported.text.contains("split(t1) { axis = 1, indices_or_sections = [s0.shape[1]] }"));
    assert!(verdicts(&imported)[0].holds());
    assert!(matches!(taso(b"not protobuf"), Err(ImportError::Protobuf(_))));
}

/// What is written passes the checks that whoever applies rules makes, disconnected outputs too.
#[test]
fn what_is_imported_is_well_formed() {
    let pair = "(relu ?x)=>(split_0 (split 1 (relu (concat 1 2 ?x ?y))))
        (relu ?y)=>(split_1 (split 1 (relu (concat 1 2 ?x ?y))))";
    let imported = tensat(pair, true).expect("a list");
    assert_eq!(imported.rules, 1, "{}", imported.text);
    let schema = NnSchema::new(&tangram_dialects::context());
    let mut sources = Sources::default();
    let mut file = load("imported", &imported.text, &mut NoImports, &mut sources);
    check_file(&mut file, &schema, &sources);
    assert!(!file.has_errors(), "{}", sources.render(&file.diagnostics));
    let found = verdicts(&imported).remove(0);
    assert!(!found.is_wrong(), "{found}");
}
