//! The register tile: how many elements of the target stay in registers at once.

use tangram_machine::{Device, Isa, Machine};

use crate::body::{Body, Role};

/// The type of an element.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Element {
    /// 32 bits, `float` in C.
    F32,
    /// 64 bits, `double` in C.
    F64,
    /// Two integers of 16 bits side by side, read as one of 32 bits. The product of two pairs is
    /// the sum of both products, in 32 bits; sums wrap around. In C, [`PAIR`].
    Pairs,
    /// [`Element::Pairs`] whose column operands hold integers of 8 bits with a sign, widened when
    /// they are loaded. In C, [`PAIR_OF_BYTES`].
    PairsOfBytes,
}

/// The name that C has for a pair and for a sum of products of pairs: an unsigned integer of 32
/// bits, which may alias others. Each kernel defines it; the text around includes `stdint.h`.
pub const PAIR: &str = "tg_pair";

/// The name that C has for two integers of 8 bits side by side, one of 16 bits, as [`PAIR`].
pub const PAIR_OF_BYTES: &str = "tg_pair_of_bytes";

impl Element {
    /// Returns the size in bytes.
    pub fn bytes(self) -> usize {
        match self {
            Self::F32 | Self::Pairs | Self::PairsOfBytes => 4,
            Self::F64 => 8,
        }
    }

    /// Returns the name of the type in C.
    pub fn c_type(self) -> &'static str {
        match self {
            Self::F32 => "float",
            Self::F64 => "double",
            Self::Pairs | Self::PairsOfBytes => PAIR,
        }
    }

    /// Returns the size of an element of a column operand in bytes.
    pub fn column_bytes(self) -> usize {
        match self {
            Self::PairsOfBytes => 2,
            other => other.bytes(),
        }
    }

    /// Returns the name that an element of a column operand has in C.
    pub fn column_c_type(self) -> &'static str {
        match self {
            Self::PairsOfBytes => PAIR_OF_BYTES,
            other => other.c_type(),
        }
    }

    /// Whether an element is a pair of integers.
    pub fn is_pair(self) -> bool {
        self.group() == 2
    }

    /// Returns how many numbers of an operand one element holds: reduced iterations in one update.
    pub fn group(self) -> usize {
        match self {
            Self::F32 | Self::F64 => 1,
            Self::Pairs | Self::PairsOfBytes => 2,
        }
    }
}

/// Rows, and vectors in each, that a micro-kernel keeps in registers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RegisterTile {
    /// Rows of the target.
    pub rows: usize,
    /// Vectors in a row.
    pub vectors: usize,
    /// Elements in a vector.
    pub width: usize,
}

/// With more vectors in a row, each needs a load in every iteration, and measured rates fall
/// (AVX-512: 6 by 4 is 3 % slower than 8 by 3).
const MOST_VECTORS: usize = 3;
/// More rows make the partial tile at the end of the target longer than they save loads.
const MOST_ROWS: usize = 16;

impl RegisterTile {
    /// Chooses the tile of a machine that computes most for each load.
    ///
    /// In each iteration a tile of `r` rows and `v` vectors loads `r` elements of a row operand
    /// and `v` vectors of a column operand for `r * v` updates. Registers hold the sums, the
    /// vectors of the columns, and an element of each row operand; one in sixteen stays free for
    /// the compiler. Sums enough to hide the latency of an update are there in every such tile.
    pub fn of(machine: &Machine, element: Element, body: &Body) -> Self {
        let is_scalar = machine.isa == Isa::Scalar;
        let width = if is_scalar { 1 } else { machine.lanes(element.bytes()) };
        let usable = machine.vector_registers - machine.vector_registers / 16;
        let columns = body.count(Role::Column).max(1);
        let others = body.count(Role::Row).max(1) + body.count(Role::Scalar);
        // A value between two operations needs a register, unless the update takes it at once.
        let between = body.ops().len().saturating_sub(body.roles().len()).saturating_sub(1).min(2);
        // Nor does an update take the product of pairs.
        let between = between.max(usize::from(element.is_pair()));
        let mut best = Self { rows: 1, vectors: 1, width };
        for vectors in 1..=MOST_VECTORS {
            let taken = vectors * columns + others + between;
            let rows = (usable.saturating_sub(taken) / vectors).min(MOST_ROWS);
            if rows == 0 {
                continue;
            }
            let tile = Self { rows, vectors, width };
            if tile.intensity() > best.intensity()
                || (tile.intensity() == best.intensity() && tile.sums() > best.sums())
            {
                best = tile;
            }
        }
        best
    }

    /// Chooses the tile of a thread of a device.
    ///
    /// As a thread loads every operand of an iteration from shared memory, whose rate is that of
    /// half as many updates at best, it computes as many sums as it has registers for.
    pub fn of_thread(device: &Device, element: Element) -> Self {
        let sums = (device.sum_registers * 4 / element.bytes()).max(1);
        // The most nearly square of the tiles, as its loads are fewest, is wider than high.
        let rows = sums.isqrt();
        let rows = (1..=rows).rev().find(|rows| sums.is_multiple_of(*rows)).unwrap_or(1);
        Self { rows, vectors: sums / rows, width: 1 }
    }

    /// Returns the number of elements in a row.
    pub fn columns(&self) -> usize {
        self.vectors * self.width
    }

    fn sums(&self) -> usize {
        self.rows * self.vectors
    }

    /// Updates for each load, in thousandths.
    fn intensity(&self) -> usize {
        1000 * self.sums() / (self.rows + self.vectors)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tiles_are_those_that_measured_fastest() {
        let tile = |isa, element| {
            let tile = RegisterTile::of(&Machine::of(isa), element, &Body::product());
            (tile.rows, tile.vectors, tile.width)
        };
        assert_eq!(tile(Isa::Avx2, Element::F64), (6, 2, 4));
        assert_eq!(tile(Isa::Avx2, Element::F32), (6, 2, 8));
        assert_eq!(tile(Isa::Avx512, Element::F64), (8, 3, 8));
        assert_eq!(tile(Isa::Avx512, Element::F32), (8, 3, 16));
        assert_eq!(tile(Isa::Neon, Element::F32), (8, 3, 4));
        // The product of pairs needs a register before it is added.
        assert_eq!(tile(Isa::Avx2, Element::Pairs), (3, 3, 8));
        // Plain C has no vectors, also of two floats.
        assert_eq!(tile(Isa::Scalar, Element::F32).2, 1);
    }

    #[test]
    fn threads_keep_as_many_sums_as_fit() {
        let device = Device::default();
        let tile = |element| {
            let tile = RegisterTile::of_thread(&device, element);
            (tile.rows, tile.columns())
        };
        assert_eq!((tile(Element::F32), tile(Element::F64)), ((8, 8), (4, 8)));
    }

    #[test]
    fn sums_never_need_more_registers_than_there_are() {
        for registers in 3..40 {
            let mut machine = Machine::of(Isa::Avx2);
            machine.vector_registers = registers;
            let tile = RegisterTile::of(&machine, Element::F64, &Body::product());
            let needed = tile.rows * tile.vectors + tile.vectors + 1;
            assert!(needed <= registers, "{registers}: {tile:?}");
        }
    }
}
