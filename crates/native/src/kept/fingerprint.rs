//! What a model computes, as a number.

use tangram_dialects::dims;
use tangram_ir::text;
use tangram_onnx::Model;
use twox_hash::xxhash3_128::Hasher;

/// A hash of the operations of `model`, of the bytes of its weights, and of what is assumed of its
/// symbols; names of values and where they come from make no difference.
///
/// The time is that of reading the weights once.
pub fn fingerprint(model: &Model) -> u128 {
    let module = &model.module;
    let context = module.context();
    let mut hasher = Hasher::new();
    let mut part = |bytes: &[u8]| {
        hasher.write(&(bytes.len() as u64).to_le_bytes());
        hasher.write(bytes);
    };
    let mut program = String::new();
    let options = text::Options { resources: false, ..text::Options::default() };
    // A string takes whatever is written.
    let _ = text::print_to(&mut program, module, options);
    part(program.as_bytes());
    let resources = module.resources();
    let mut keys: Vec<_> = resources.keys().map(|key| (context.text(key), key)).collect();
    keys.sort_unstable_by_key(|&(text, _)| text);
    for (text, key) in keys {
        part(text.as_bytes());
        part(resources.find(key).map_or(&[], |bytes| bytes.as_ref()));
    }
    for (symbol, (least, greatest)) in dims::ranges(context) {
        part(symbol.as_bytes());
        part(&least.to_le_bytes());
        part(&greatest.to_le_bytes());
    }
    hasher.finish_128()
}
