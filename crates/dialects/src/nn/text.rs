//! Operations on tensors of text.

use tangram_ir::{AttrKind, Dim, FloatKind, InferCx, OperandDef};
use tangram_tensor::text as kernels;
use tangram_tensor::text::{CaseChange, NgramMode, NgramParams, NormalizeParams};

use super::{NnOp, maybe, needed, op, operand, result};
use crate::dtype;
use crate::eval::{EvalCx, EvalError, Evaluated, single};
use crate::infer::{InferExt, Result, Shaped, one, several};

const TEXTS: OperandDef = operand("x", "texts");

/// The operations of this family.
pub(super) static OPS: &[NnOp] = &[
    op(
        "nn.string_concat",
        "the texts of `x` and `y` one after the other",
        &[TEXTS, operand("y", "a shape that broadcasts with `x`")],
        &[result("output", "the shapes broadcast together")],
        &[],
        infer_string_concat,
    )
    .eval(|cx| single(kernels::concat(cx.need(0)?, cx.need(1)?))),
    op(
        "nn.string_split",
        "each text cut at a delimiter",
        &[TEXTS],
        &[
            result("parts", "the shape of `x` and the most parts, filled up with empty texts"),
            result("counts", "the shape of `x`, `i64`"),
        ],
        &[
            maybe("delimiter", AttrKind::Str, "runs of white space if absent or empty"),
            maybe("maxsplit", AttrKind::Int, "the most cuts; unbounded if absent"),
        ],
        infer_string_split,
    )
    .eval(eval_split),
    op(
        "nn.string_normalizer",
        "texts in one case, some left out",
        &[operand("x", "rank 1, or 1 by any extent")],
        &[result("output", "the texts that stay")],
        &[
            maybe(
                "case_change_action",
                AttrKind::Enum(&["NONE", "LOWER", "UPPER"]),
                "NONE if absent",
            ),
            maybe("is_case_sensitive", AttrKind::Bool, "of the comparison; false if absent"),
            maybe("locale", AttrKind::Str, "the system's if absent"),
            maybe("stopwords", AttrKind::Strs, "texts to leave out; none if absent"),
        ],
        infer_string_normalizer,
    )
    .eval(eval_normalizer),
    op(
        "nn.regex_full_match",
        "whether each text matches a pattern as a whole",
        &[TEXTS],
        &[result("output", "the shape of `x`, `i1`")],
        &[needed("pattern", AttrKind::Str, "a regular expression in RE2's syntax")],
        infer_regex,
    )
    .eval(eval_regex),
    op(
        "nn.tf_idf_vectorizer",
        "how often, or with what weight, each n-gram of a pool is there",
        &[operand("x", "rank 1; or rows; texts or integers")],
        &[result("output", "a number for each n-gram, for each row; `f32`")],
        &[
            needed("mode", AttrKind::Enum(&["TF", "IDF", "TFIDF"]), "counts, weights, or both"),
            needed("min_gram_length", AttrKind::Int, "the least length of an n-gram"),
            needed("max_gram_length", AttrKind::Int, "the greatest length of an n-gram"),
            needed("max_skip_count", AttrKind::Int, "how many elements may be skipped"),
            needed("ngram_counts", AttrKind::Ints, "where the n-grams of each length start"),
            needed("ngram_indexes", AttrKind::Ints, "the place of each n-gram in the result"),
            maybe("weights", AttrKind::Floats, "of each n-gram; 1 if absent"),
            maybe("pool_int64s", AttrKind::Ints, "the n-grams, if they are of integers"),
            maybe("pool_strings", AttrKind::Strs, "the n-grams, if they are of texts"),
        ],
        infer_ngrams,
    )
    .eval(eval_ngrams),
];

fn infer_string_concat(cx: &InferCx<'_>) -> Result {
    let (x, y) = (cx.tensor(0)?, cx.tensor(1)?);
    let dims = crate::infer::broadcast(cx.context(), &[&x, &y])?;
    one(cx, &Shaped { dims, element: x.element })
}

fn infer_string_split(cx: &InferCx<'_>) -> Result {
    let x = cx.tensor(0)?;
    let counts = Shaped { element: cx.context().int_type(64), ..x.clone() };
    let dims = x.dims.map(|dims| dims.into_iter().chain([Dim::UNKNOWN]).collect());
    several(cx, [Shaped { dims, element: x.element }, counts])
}

fn infer_string_normalizer(cx: &InferCx<'_>) -> Result {
    let mut x = cx.tensor(0)?;
    if cx.attrs().texts("stopwords").is_some_and(|words| !words.is_empty())
        && let Some(last) = x.dims.as_mut().and_then(|dims| dims.last_mut())
    {
        *last = Dim::UNKNOWN;
    }
    let element = dtype::type_of(cx.context(), tangram_tensor::DType::String);
    one(cx, &Shaped { element, ..x })
}

fn infer_regex(cx: &InferCx<'_>) -> Result {
    one(cx, &Shaped { element: cx.context().int_type(1), ..cx.tensor(0)? })
}

fn infer_ngrams(cx: &InferCx<'_>) -> Result {
    let x = cx.tensor(0)?;
    let places = cx.need_ints("ngram_indexes")?;
    let columns = places.iter().max().map_or(0, |last| last.saturating_add(1));
    let dims = x.dims.map(|mut dims| {
        dims.pop();
        dims.into_iter().chain([Dim::fixed(columns)]).collect()
    });
    one(cx, &Shaped { dims, element: cx.context().float_type(FloatKind::F32) })
}

fn eval_split(cx: &EvalCx<'_>) -> Evaluated {
    let delimiter = cx.attrs().text("delimiter").unwrap_or("");
    let most = cx.attrs().int("maxsplit").and_then(|n| usize::try_from(n).ok());
    let (parts, counts) = kernels::split(cx.need(0)?, delimiter, most)?;
    Ok(vec![parts, counts])
}

fn eval_normalizer(cx: &EvalCx<'_>) -> Evaluated {
    let attrs = cx.attrs();
    let params = NormalizeParams {
        case: match attrs.text("case_change_action") {
            Some("LOWER") => CaseChange::Lower,
            Some("UPPER") => CaseChange::Upper,
            _ => CaseChange::None,
        },
        case_sensitive: attrs.flag("is_case_sensitive"),
        stop_words: attrs.texts("stopwords").unwrap_or_default(),
    };
    single(kernels::normalize(cx.need(0)?, &params))
}

fn eval_regex(cx: &EvalCx<'_>) -> Evaluated {
    let pattern = cx.attrs().text("pattern").ok_or(EvalError::Attribute("pattern"))?;
    single(kernels::full_match(cx.need(0)?, pattern))
}

fn eval_ngrams(cx: &EvalCx<'_>) -> Evaluated {
    let attrs = cx.attrs();
    let size = |name: &'static str| {
        let size = attrs.int(name).and_then(|n| usize::try_from(n).ok());
        size.ok_or(EvalError::Attribute(name))
    };
    let pool = match (attrs.texts("pool_strings"), attrs.ints("pool_int64s")) {
        (Some(texts), _) => texts.iter().map(|text| text.as_bytes().to_vec()).collect(),
        (None, Some(ints)) => ints.iter().map(|n| n.to_string().into_bytes()).collect(),
        (None, None) => return Err(EvalError::Attribute("pool_strings")),
    };
    let params = NgramParams {
        mode: match attrs.text("mode") {
            Some("TF") => NgramMode::Tf,
            Some("IDF") => NgramMode::Idf,
            Some("TFIDF") => NgramMode::TfIdf,
            _ => return Err(EvalError::Attribute("mode")),
        },
        lengths: (size("min_gram_length")?, size("max_gram_length")?),
        skips: size("max_skip_count")?,
        starts: attrs.ints("ngram_counts").ok_or(EvalError::Attribute("ngram_counts"))?,
        places: attrs.ints("ngram_indexes").ok_or(EvalError::Attribute("ngram_indexes"))?,
        weights: attrs.floats("weights").unwrap_or_default(),
        pool,
    };
    single(kernels::count_ngrams(cx.need(0)?, &params))
}
