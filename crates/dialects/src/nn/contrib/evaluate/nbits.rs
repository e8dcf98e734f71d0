//! Matrices of few bits, quantised in blocks of their rows.

use tangram_tensor::elementwise::cast;
use tangram_tensor::linear::matmul;
use tangram_tensor::shape::transpose;
use tangram_tensor::{DType, Tensor};

use super::{absent, extents, plus, positive};
use crate::eval::{EvalCx, EvalError, Evaluated};

type Result<T> = std::result::Result<T, EvalError>;

/// `a` times a matrix of `N` by `K` elements, transposed, and a bias.
pub(in crate::nn::contrib) fn matmul_nbits(cx: &EvalCx<'_>) -> Evaluated {
    absent(cx, &[(4, "g_idx")])?;
    let a = cx.need(0)?;
    let weights = Packed::new(cx)?.read(cx)?;
    let b = transpose(&cast(&weights, a.dtype())?, Some(&[1, 0]))?;
    Ok(vec![plus(cx, &matmul(a, &b)?, &[5])?])
}

/// How elements lie: the first in the lowest bits of a byte, each block on bytes of its own, zero
/// points of a row side by side.
struct Packed {
    rows: usize,
    columns: usize,
    bits: usize,
    block: usize,
}

impl Packed {
    fn new(cx: &EvalCx<'_>) -> Result<Packed> {
        let bits = cx.attrs().int("bits").unwrap_or(4);
        if !matches!(bits, 2 | 4 | 8) {
            return Err(EvalError::Value("bits", bits.to_string()));
        }
        Ok(Packed {
            rows: positive(cx, "N")?,
            columns: positive(cx, "K")?,
            bits: bits as usize,
            block: positive(cx, "block_size")?,
        })
    }

    /// Element `at` of packed elements.
    fn element(&self, bytes: &[u8], at: usize) -> u8 {
        let per_byte = 8 / self.bits;
        let mask = (0xff >> (8 - self.bits)) as u8;
        bytes[at / per_byte] >> (at % per_byte * self.bits) & mask
    }

    /// The matrix: rows by columns.
    fn read(&self, cx: &EvalCx<'_>) -> Result<Tensor> {
        let blocks = self.columns.div_ceil(self.block);
        let per_block = (self.block * self.bits).div_ceil(8);
        let [rows, found, bytes] = extents("b", cx.need(1)?)?;
        if (rows, found, bytes) != (self.rows, blocks, per_block) {
            let shape = format!("of shape {:?}", cx.need(1)?.shape());
            return Err(EvalError::Value("b", shape));
        }
        let packed = cx.need(1)?.to_vec::<u8>()?;
        let scales = cx.need(2)?.f64s()?;
        let zeros = self.zero_points(cx.get(3), blocks)?;
        if scales.len() != rows * blocks {
            return Err(EvalError::Value("scales", format!("{} numbers", scales.len())));
        }
        let mut out = Vec::with_capacity(rows * self.columns);
        for row in 0..rows {
            for column in 0..self.columns {
                let block = row * blocks + column / self.block;
                let bytes = &packed[block * per_block..(block + 1) * per_block];
                let value = f64::from(self.element(bytes, column % self.block));
                out.push((value - zeros[block]) * scales[block]);
            }
        }
        Ok(cast(&Tensor::from_vec([rows, self.columns], out)?, DType::F32)?)
    }

    /// The zero point of each block: as packed as the elements, or numbers; by default the middle.
    fn zero_points(&self, zeros: Option<&Tensor>, blocks: usize) -> Result<Vec<f64>> {
        let count = self.rows * blocks;
        let Some(zeros) = zeros else {
            return Ok(vec![f64::from(1_u32 << (self.bits - 1)); count]);
        };
        let per_row = (blocks * self.bits).div_ceil(8);
        let wrong = || EvalError::Value("zero_points", format!("of shape {:?}", zeros.shape()));
        if zeros.dtype() != DType::U8 {
            return Some(zeros.f64s()?).filter(|list| list.len() == count).ok_or_else(wrong);
        }
        let packed = zeros.to_vec::<u8>()?;
        if packed.len() != self.rows * per_row {
            return Err(wrong());
        }
        let rows = packed.chunks_exact(per_row);
        Ok(rows
            .flat_map(|row| (0..blocks).map(|block| f64::from(self.element(row, block))))
            .collect())
    }
}
