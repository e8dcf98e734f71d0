//! Sizes of the blocks that loops around a micro-kernel go through.

use tangram_machine::Machine;

use crate::body::{Body, Role};
use crate::tile::{Element, RegisterTile};

/// How many iterations of rows, columns and reduced loops a block has.
///
/// A panel of `columns` of the register tile and `depth` reduced iterations stays in the first
/// cache while all panels of rows go past it; those, `rows` by `depth`, stay in the second; and
/// `columns` by `depth` in what a core has of the third. Where vectors are so long that such a
/// panel would be short, it is longer, and comes from the second cache.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Blocking {
    /// Iterations of the rows; a multiple of the register tile's.
    pub rows: usize,
    /// Iterations of the columns; a multiple of the register tile's.
    pub columns: usize,
    /// Iterations of the reduced loops.
    pub depth: usize,
}

/// Bytes of the target that may be moved in a cycle: what the third cache, or memory, gives a core
/// beside the panels. On a Cascade Lake server, f64 and 8 by 24 elements, sums of 80 (a panel in
/// half of the first cache; 3.2 bytes a cycle) reach 31 GFLOP/s, of 128 37, of 168 41, of 256 45
/// (one byte a cycle; the panel is 1.5 times the first cache), of 336 43.
const TARGET_BYTES: usize = 1;
const LEAST_DEPTH: usize = 64;
const MOST_DEPTH: usize = 384;
/// Blocks beyond this gain nothing more, and take memory, which a program has once for each thread. On
/// a Zen 3 server, whose third cache others use as well, products of 800 to 2,500 rows in f64 take 1 to
/// 11 % less time with this than with 4,096, of which the cache would hold half.
const MOST_COLUMNS: usize = 1024;
/// Half of a cache is left to what goes past the block.
const SHARE: usize = 2;

impl Blocking {
    /// Chooses blocks by the sizes of caches.
    ///
    /// # Source
    /// Low et al. (2016), with half of each cache instead of the count of its ways: what the
    /// ways give differs little, and a cache that a virtual machine hides has none to read.
    pub fn of(machine: &Machine, element: Element, body: &Body, tile: &RegisterTile) -> Self {
        let bytes = |level: usize, usual: usize| {
            machine.cache(level).map_or(usual, |cache| cache.bytes) / SHARE
        };
        let row = element.bytes() * body.count(Role::Row).max(1);
        let column = element.bytes() * body.count(Role::Column).max(1);
        let in_first = bytes(1, 32 << 10) / (tile.columns() * column);
        // A tile of `t` elements is loaded and stored in `depth * t / updates` cycles.
        let updates = machine.fma_per_cycle * tile.width;
        let seldom = 2 * element.bytes() * updates / TARGET_BYTES;
        let depth = (in_first.max(seldom) / 8 * 8).clamp(LEAST_DEPTH, MOST_DEPTH);
        let multiple = |count: usize, of: usize| (count / of).max(1) * of;
        Self {
            rows: multiple(bytes(2, 256 << 10) / (depth * row), tile.rows),
            columns: multiple(
                (bytes(3, 2 << 20) / (depth * column)).min(MOST_COLUMNS),
                tile.columns(),
            ),
            depth,
        }
    }
}

#[cfg(test)]
mod tests {
    use tangram_machine::Isa;

    use super::*;

    #[test]
    fn targets_are_loaded_seldom_enough() {
        let depth = |isa, element| {
            let (machine, body) = (Machine::of(isa), Body::product());
            let tile = RegisterTile::of(&machine, element, &body);
            Blocking::of(&machine, element, &body, &tile).depth
        };
        // A panel of half the first cache has 256 already with shorter vectors.
        assert_eq!(depth(Isa::Avx2, Element::F64), 256);
        assert_eq!(depth(Isa::Avx2, Element::F32), 256);
        assert_eq!(depth(Isa::Avx512, Element::F64), 256);
        assert_eq!(depth(Isa::Avx512, Element::F32), 256);
    }

    #[test]
    fn blocks_fit_into_their_caches() {
        // Long vectors take their panels from the second cache, an eighth of it at most.
        for (isa, element, panel) in
            [(Isa::Avx2, Element::F64, 32 << 10), (Isa::Avx512, Element::F32, (1 << 20) / 8)]
        {
            let (machine, body) = (Machine::of(isa), Body::product());
            let tile = RegisterTile::of(&machine, element, &body);
            let blocks = Blocking::of(&machine, element, &body, &tile);
            let bytes = |count: usize| count * blocks.depth * element.bytes();
            assert!(bytes(tile.columns()) <= panel, "{blocks:?}");
            assert!(bytes(blocks.rows) <= (1 << 20) / 2, "{blocks:?}");
            assert!(bytes(blocks.columns) <= 2 << 20, "{blocks:?}");
            assert_eq!((blocks.rows % tile.rows, blocks.columns % tile.columns()), (0, 0));
        }
    }
}
