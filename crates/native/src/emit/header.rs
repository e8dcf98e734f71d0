//! The header of a model in C.

use tangram_ir::Value;
use tangram_target::comment;

use super::Writer;
use crate::memory::ALIGNMENT;
use crate::port::{Kind, Port};
use crate::promise::Promise;

impl Writer<'_> {
    /// The header: what inputs, outputs and sizes are, and how the model is called.
    pub(super) fn header(&self, name: &str, promise: Option<&Promise>) -> String {
        let module = &self.model.module;
        let context = module.context();
        let port = |value: Value, name: String| {
            let kind = Kind::of(context, module.value_type(value));
            let port = Port { name, kind };
            comment(&format!("{} {port}", port.name))
        };
        let args = self.model.graph().map(|block| module.args(block)).unwrap_or_default();
        let named = |value: &Value| module.value_name(*value).map(|name| context.text(name));
        let inputs = args.iter().map(|v| port(*v, named(v).unwrap_or_default().to_owned()));
        let outputs = self.results.iter().zip(self.model.output_names()).map(|(&v, n)| port(v, n));
        let list = |what: &str, items: Vec<String>| {
            let line = |(i, item): (usize, &String)| format!(" * {what}[{i}]: {item}\n");
            items.iter().enumerate().map(line).collect::<String>()
        };
        let guard = name.to_uppercase();
        format!(
            "#ifndef {guard}_H\n#define {guard}_H\n\n#include <stddef.h>\n#include <stdint.h>\n\n\
             #ifdef __cplusplus\nextern \"C\" {{\n#endif\n\n\
             /* Elements lie row by row without gaps.\n *\n{}{}{} */\n\n\
             /* Who runs parts of the model: `parallel_for` calls `body(work, part)` once for each \
             part below\n   `parts`, at the same time if it can, and returns when all have been; \
             `parts` is at most `threads`. */\n\
             struct {name}_threads {{\n    \
                 void (*parallel_for)(void *context, int64_t parts, void (*body)(void *work, int64_t \
             part),\n            void *work);\n    \
                 void *context;\n    int64_t threads;\n}};\n\n\
             /* The bytes that `arena` needs, at a multiple of {ALIGNMENT}; `threads` may be NULL. SIZE_MAX where \
             no memory\n   is that large. */\n\
             size_t {name}_arena_bytes(const int64_t *dims, const struct {name}_threads *threads);\n\n\
             {}\
             #define {guard}_WEIGHTS_BYTES {}\n\n\
             /* Runs the model, on the caller's thread if `threads` is NULL: the results are the same \
             bits.\n   `weights` are the bytes of its file, at a multiple of {ALIGNMENT}. Returns 0, \
             1 for a size that\n   it was not compiled for, 2 for an index that is outside of the \
             tensor\n   that it is for, 3 for an integer that is divided by zero, or 4 for the weights of another \
             program. Allocates\n   nothing and keeps nothing. */\n\
             int {name}_run(const void *weights, void *arena, const void *const *inputs,\n        \
             void *const *outputs, const int64_t *dims, const struct {name}_threads *threads);\n\n\
             #ifdef __cplusplus\n}}\n#endif\n\n#endif\n",
            list("inputs", inputs.collect()),
            list("outputs", outputs.collect()),
            list("dims", self.symbols.iter().map(|symbol| comment(&described(symbol))).collect()),
            promise.map(|promise| promised(name, promise)).unwrap_or_default(),
            self.weights.len(),
        )
    }
}

/// The greatest arena as constants.
fn promised(name: &str, promise: &Promise) -> String {
    let guard = name.to_uppercase();
    let range = |(symbol, (least, most)): &(String, (i64, i64))| {
        format!("{} from {least} to {most}", described(symbol))
    };
    let within: Vec<String> = promise.within.iter().map(range).collect();
    let within =
        if within.is_empty() { String::new() } else { format!(", for {}", within.join(", ")) };
    format!(
        "/* What `{}_arena_bytes` returns at most{}: on the\n   caller's thread, and for each \
         further one. */\n#define {guard}_ARENA_BYTES {}\n#define {guard}_ARENA_BYTES_PER_THREAD \
         {}\n\n",
        name,
        comment(&within),
        promise.bytes,
        promise.per_thread,
    )
}

/// What a symbol is, for whoever reads the header.
fn described(symbol: &str) -> String {
    match symbol.strip_prefix('?').and_then(|open| open.rsplit_once('.')) {
        Some((input, axis)) => format!("extent {axis} of {input}"),
        None => symbol.to_owned(),
    }
}
