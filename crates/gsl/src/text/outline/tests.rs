//! Words of right, unfinished and damaged rules.

use super::*;

const RULE: &str = "rule fold-it [fuse] {\n  let x = *;\n  op conv = conv1d | conv2d;\n  let c = only conv(x, \
                    const);\n  match bias_add(c, x) { axis = 1 } as b;\n  attr n = [i for i < c.groups];\n  \
                    where sum(n) == b.axis, native is-small(x);\n  rewrite acme.Twice(relu(x)) { ..c, \
                    c.{strides} };\n}\n";

fn kinds(text: &str) -> Vec<(String, WordKind)> {
    let all = Outline::new(0, text).words;
    let words = all.into_iter().filter(|word| word.kind != WordKind::Keyword);
    words.map(|word| (word.text, word.kind)).collect()
}

#[test]
fn words_are_told_apart() {
    use WordKind::*;
    let expected = [
        ("fold-it", Rule),
        ("x", Binding),
        ("conv", Binding),
        ("conv1d", Operator),
        ("conv2d", Operator),
        ("c", Binding),
        ("conv", Operator),
        ("x", Name),
        ("bias_add", Operator),
        ("c", Name),
        ("x", Name),
        ("axis", Attribute),
        ("b", Binding),
        ("n", Binding),
        ("i", Name),
        ("i", Binding),
        ("c", Name),
        ("groups", Attribute),
        ("sum", Function),
        ("n", Name),
        ("b", Name),
        ("axis", Attribute),
        ("is-small", Native),
        ("x", Name),
        ("acme.Twice", Operator),
        ("relu", Operator),
        ("x", Name),
        ("c", Name),
        ("c", Name),
        ("strides", Attribute),
    ];
    let expected: Vec<_> = expected.map(|(text, kind)| (text.to_owned(), kind)).into();
    assert_eq!(kinds(RULE), expected);
}

#[test]
fn names_lead_to_their_binding_and_attributes_to_their_operators() {
    let outline = Outline::new(0, RULE);
    let word = |part: &str, behind: usize| {
        let at = RULE.find(part).expect("a part of the rule") + behind;
        outline.word(at as u32).expect("a word")
    };
    let bound = |word: &Word| word.binding.map(|span| span.start as usize);
    assert_eq!(bound(word("bias_add(c", 9)), RULE.find("c = only"));
    assert_eq!(bound(word("only conv", 5)), RULE.find("conv = "));
    assert_eq!(bound(word("[i for", 1)), RULE.find("i <"));
    assert_eq!(word("c.groups", 2).operators, ["conv1d", "conv2d"]);
    assert_eq!(word("b.axis", 2).operators, ["bias_add"]);
    assert_eq!(word("{strides", 1).operators, ["conv1d", "conv2d"]);
}

#[test]
fn what_may_be_written_is_known_in_unfinished_text() {
    let text = |all: &str| expected(all, all.len() as u32).expect("no comment");
    let operators = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
    let start = "rule a {\n  let x = *;\n  let c = conv2d(x, const);\n";
    let cases: [(&str, Expected); 12] = [
        ("  ", Expected::Statement),
        ("  mat", Expected::Statement),
        ("  let ", Expected::NewName),
        ("  match rel", Expected::Pattern),
        ("  match relu(c", Expected::Pattern),
        ("  match conv2d(c, x) { ", Expected::Attribute(operators(&["conv2d"]))),
        ("  match conv2d(c, x) { groups = ", Expected::Expression),
        ("  match conv2d(c, x) { groups = 1, pa", Expected::Attribute(operators(&["conv2d"]))),
        ("  where c.", Expected::Field(operators(&["conv2d"]))),
        ("  where c.gr", Expected::Field(operators(&["conv2d"]))),
        ("  op f = trait ", Expected::Trait),
        ("  where native ", Expected::Native),
    ];
    for (end, expected) in cases {
        assert_eq!(text(&format!("{start}{end}")), expected, "{end}");
    }
    assert_eq!(text("ru"), Expected::Item);
    assert_eq!(expected("// ru", 5), None);
}

#[test]
fn no_text_is_too_odd() {
    let mut random = fastrand::Rng::with_seed(1);
    let characters: Vec<char> = RULE.chars().chain("é𝄞\"/ ".chars()).collect();
    for _ in 0..2000 {
        let mut text = RULE.to_owned();
        for _ in 0..random.usize(1..8) {
            let starts: Vec<usize> = text.char_indices().map(|(at, _)| at).collect();
            let at = starts[random.usize(..starts.len())];
            if random.bool() {
                text.insert(at, characters[random.usize(..characters.len())])
            } else {
                _ = text.remove(at)
            }
        }
        let outline = Outline::new(0, &text);
        let inside = |word: &Word| text.get(word.span.start as usize..word.span.end as usize);
        assert!(outline.words.iter().all(|word| inside(word).is_some()), "{text}");
        let at = random.usize(..=text.len()) as u32;
        expected(&text, at);
        outline.names_around(at);
    }
}
