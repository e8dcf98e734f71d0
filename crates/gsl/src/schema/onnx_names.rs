//! Names of ONNX's operators, for who writes them in a rule: which operation is meant.
//!
//! Most operations have the name of the operator in lower case, with or without underscores:
//! `LeakyRelu` is `leaky_relu`, `ReduceL2` is `reduce_l2`. The others are listed; a test compares all
//! of them with the operators that are read.

/// The operators whose operations have other names, in order.
const OTHERS: &[(&str, &str)] = &[
    ("And", "logical_and"),
    ("AveragePool", "avg_pool"),
    ("BatchNormalization", "batch_norm"),
    ("BitShift", "left_shift"),
    ("Concat", "concatenate"),
    ("ConstantOfShape", "full"),
    ("DequantizeLinear", "dequantize"),
    ("Div", "divide"),
    ("DynamicQuantizeLinear", "dynamic_quantize"),
    ("Expand", "broadcast_to"),
    ("Gather", "take"),
    ("GlobalAveragePool", "global_avg_pool"),
    ("GreaterOrEqual", "greater_equal"),
    ("GroupNormalization", "group_norm"),
    ("InstanceNormalization", "instance_norm"),
    ("LayerNormalization", "layer_norm"),
    ("LessOrEqual", "less_equal"),
    ("LpNormalization", "lp_norm"),
    ("MatMulInteger", "matmul_integer"),
    ("MaxRoiPool", "roi_pool"),
    ("MeanVarianceNormalization", "mean_variance_norm"),
    ("Mul", "multiply"),
    ("Neg", "negative"),
    ("NegativeLogLikelihoodLoss", "nll_loss"),
    ("Not", "logical_not"),
    ("Or", "logical_or"),
    ("Pow", "power"),
    ("QLinearMatMul", "qlinear_matmul"),
    ("QuantizeLinear", "quantize"),
    ("RMSNormalization", "rms_norm"),
    ("Range", "arange"),
    ("ReduceMax", "max"),
    ("ReduceMean", "mean"),
    ("ReduceMin", "min"),
    ("ReduceProd", "prod"),
    ("ReduceSum", "sum"),
    ("Shape", "shape_of"),
    ("SimplifiedLayerNormalization", "rms_norm"),
    ("Size", "ndarray_size"),
    ("SkipLayerNormalization", "contrib_skip_layer_norm"),
    ("Slice", "strided_slice"),
    ("Sub", "subtract"),
    ("Unsqueeze", "expand_dims"),
    ("Xor", "logical_xor"),
];

/// Operators that are one of several operations, and which other one that is when.
const SEVERAL: &[(&str, &str)] = &[
    ("AveragePool", "`avg_pool2d` over two dimensions"),
    ("BitShift", "`right_shift`"),
    ("Conv", "`conv2d` over two dimensions"),
    ("ConvTranspose", "`conv2d_transpose` over two dimensions"),
    ("Max", "`maximum` of two operands, `max_n` of more"),
    ("MaxPool", "`max_pool2d` over two dimensions"),
    ("Mean", "`mean_n` of several operands"),
    ("Min", "`minimum` of two operands, `min_n` of more"),
    ("Sum", "`add_n` of several operands"),
];

/// Says which operation the name of an operator of ONNX stands for; nothing for any other name.
pub(crate) fn hint(name: &str, is_known: &dyn Fn(&str) -> bool) -> Option<String> {
    let found = operation(name, is_known)?;
    let other = SEVERAL.iter().find(|(operator, _)| *operator == name);
    let other = other.map(|(_, other)| format!(", or {other}")).unwrap_or_default();
    Some(format!("did you mean `{found}`{other}?"))
}

/// Returns the operation that the name of an operator of ONNX stands for. `is_known`: whether there
/// is an operation of a name.
pub fn operation(name: &str, is_known: &dyn Fn(&str) -> bool) -> Option<String> {
    // Names of operations have no capitals.
    if !name.starts_with(|first: char| first.is_ascii_uppercase()) {
        return None;
    }
    let name = name.trim();
    let listed = OTHERS.iter().find(|(operator, _)| *operator == name);
    let listed = listed.map(|(_, operation)| (*operation).to_owned());
    let spelled = [snake(name), name.to_ascii_lowercase()];
    let learned = spelled.clone().map(|name| format!("ml_{name}"));
    listed.into_iter().chain(spelled).chain(learned).find(|name| is_known(name))
}

/// Words of capitals become words of small letters: `LogSoftmax` becomes `log_softmax`.
fn snake(name: &str) -> String {
    let mut out = String::new();
    let mut before: Option<char> = None;
    let mut letters = name.chars().peekable();
    while let Some(letter) = letters.next() {
        let starts = letter.is_ascii_uppercase()
            && match before {
                Some(before) if before.is_ascii_uppercase() => {
                    letters.peek().is_some_and(char::is_ascii_lowercase)
                }
                Some(_) => true,
                None => false,
            };
        if starts {
            out.push('_');
        }
        out.push(letter.to_ascii_lowercase());
        before = Some(letter);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_told_apart() {
        let pairs = [
            ("LogSoftmax", "log_softmax"),
            ("ReduceL2", "reduce_l2"),
            ("SVMClassifier", "svm_classifier"),
            ("Relu", "relu"),
        ];
        for (name, expected) in pairs {
            assert_eq!(snake(name), expected);
        }
    }

    #[test]
    fn lists_are_in_order() {
        assert!(OTHERS.is_sorted() && SEVERAL.is_sorted());
    }
}
