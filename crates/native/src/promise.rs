//! The greatest arena over all sizes that a model is compiled for.
//!
//! Each slot of the arena is as wide as the widest buffer in it. While every symbol stays within its
//! range, no buffer is larger than the upper bound of its size
//! ([`Expr::bounds`](tangram_affine::symbolic::Expr::bounds)), so the sum over the slots of the
//! greatest of these is enough. Where sizes grow with every symbol, as they mostly do, it is what
//! the largest sizes need, to the byte.

use tangram_affine::symbolic::Expr;
use tangram_dialects::dims;
use tangram_ir::Context;
use tangram_lowering::Buffer;

use crate::memory::ALIGNMENT;

/// How large the arena of a model can become.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Promise {
    /// Bytes that are enough for a run on the caller's thread.
    pub bytes: u64,
    /// Bytes that each further thread adds at most.
    pub per_thread: u64,
    /// The symbols that sizes depend on, with the least and the greatest value of each.
    pub within: Vec<(String, (i64, i64))>,
}

/// Sums the greatest sizes of slots of buffers.
///
/// # Errors
/// The symbols without a greatest value, which leave the arena without one.
pub(crate) fn promise<'b>(
    context: &Context,
    symbols: &[String],
    slots: impl IntoIterator<Item = Vec<&'b Buffer>>,
) -> Result<Promise, Vec<String>> {
    let range = |symbol: &str| dims::range(context, symbol).filter(|range| range.1 < i64::MAX);
    let open: Vec<String> = symbols.iter().filter(|s| range(s).is_none()).cloned().collect();
    let within = symbols.iter().filter_map(|s| Some((s.clone(), range(s)?))).collect();
    let mut sum = Promise { bytes: 0, per_thread: 0, within };
    for buffers in slots {
        let Some((bytes, per_thread)) = slot(&buffers, &range) else { return Err(open) };
        let (Some(bytes), Some(per_thread)) =
            (sum.bytes.checked_add(bytes), sum.per_thread.checked_add(per_thread))
        else {
            return Err(open);
        };
        sum = Promise { bytes, per_thread, ..sum };
    }
    Ok(sum)
}

/// The greatest bytes of any of the buffers for one thread, and what a further one adds.
fn slot(buffers: &[&Buffer], range: &dyn Fn(&str) -> Option<(i64, i64)>) -> Option<(u64, u64)> {
    let mut widest = (0, 0);
    for buffer in buffers {
        let bytes = bytes(&buffer.size, buffer.element.size_bits(), range)?;
        let per_thread = if buffer.per_part { bytes } else { 0 };
        widest = (widest.0.max(bytes), widest.1.max(per_thread));
    }
    Some(widest)
}

/// The greatest number of bytes of so many elements, up to the alignment.
fn bytes(count: &Expr, bits: usize, range: &dyn Fn(&str) -> Option<(i64, i64)>) -> Option<u64> {
    let (_, most) = count.bounds(range)?;
    let bits = u64::try_from(most.max(0)).ok()?.checked_mul(bits as u64)?;
    bits.div_ceil(8).checked_next_multiple_of(ALIGNMENT as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_those_of_the_largest_sizes() {
        let range = |symbol: &str| (symbol == "n").then_some((1, 100));
        let n = Expr::symbol("n");
        let count = n.try_mul(&n).and_then(|square| square.try_add(&Expr::int(3))).expect("small");
        assert_eq!(bytes(&count, 32, &range), Some((10_003 * 4_u64).next_multiple_of(64)));
        assert_eq!(bytes(&Expr::int(7), 4, &range), Some(64));
        assert_eq!(bytes(&Expr::symbol("m"), 32, &range), None);
    }
}
