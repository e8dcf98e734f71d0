//! Moving elements without looking at them.
//!
//! A kernel that only moves elements sees *cells*: arrays of 1, 2, 4, 8 or 16 bytes. Packed types
//! are unpacked to one byte an element first and packed again; text is replaced by indices into a
//! pool of all the strings of the operands. So one loop serves every element type.

use bytemuck::{Pod, Zeroable};
use bytes::Bytes;

use crate::dtype::DType;
use crate::error::{KernelError, Result};
use crate::layout::{Nest, Strides, row_major};
use crate::packed;
use crate::tensor::{Shape, Tensor, checked_count};

/// The bytes of one element.
pub trait Cell: Pod + Zeroable + PartialEq + Send + Sync {}
impl<const N: usize> Cell for [u8; N] where [u8; N]: Pod + PartialEq {}

/// Runs a block with `$c` bound to the cell type of an element type of whole bytes.
macro_rules! with_cells {
    ($kernel:expr, $dtype:expr, $c:ident => $body:expr) => {
        match $dtype.size_bits() {
            8 => {
                type $c = [u8; 1];
                $body
            }
            16 => {
                type $c = [u8; 2];
                $body
            }
            32 => {
                type $c = [u8; 4];
                $body
            }
            64 => {
                type $c = [u8; 8];
                $body
            }
            128 => {
                type $c = [u8; 16];
                $body
            }
            _ => {
                return Err($crate::KernelError::BadDType {
                    kernel: $kernel,
                    expected: "elements of whole bytes",
                    found: $dtype,
                })
            }
        }
    };
}
pub(crate) use with_cells;

struct Owned<C>(Vec<C>);

impl<C: Cell> AsRef<[u8]> for Owned<C> {
    fn as_ref(&self) -> &[u8] {
        bytemuck::cast_slice(&self.0)
    }
}

/// Lends the elements as cells.
pub fn cells<C: Cell>(tensor: &Tensor) -> &[C] {
    bytemuck::cast_slice(tensor.bytes())
}

/// Makes a tensor of cells, without copying them.
pub fn from_cells<C: Cell>(dtype: DType, shape: &[usize], cells: Vec<C>) -> Result<Tensor> {
    Tensor::from_bytes(dtype, shape, Bytes::from_owner(Owned(cells)))
}

/// Runs a kernel that only moves elements on operands of one type, whatever that type is.
///
/// `body` sees the operands with a type of whole bytes, and returns that type.
///
/// # Errors
/// [`KernelError::MixedDTypes`] if the operands differ in type; the errors of `body`.
pub fn moving(
    kernel: &'static str,
    operands: &[&Tensor],
    body: impl FnOnce(&[Tensor]) -> Result<Tensor>,
) -> Result<Tensor> {
    let Some(first) = operands.first() else { return body(&[]) };
    let dtype = first.dtype();
    if let Some(other) = operands.iter().find(|other| other.dtype() != dtype) {
        return Err(KernelError::MixedDTypes { kernel, left: dtype, right: other.dtype() });
    }
    if dtype == DType::String {
        moving_strings(operands, body)
    } else if dtype.is_packed() {
        let unpack = |tensor: &&Tensor| {
            let codes = packed::unpack(tensor.bytes(), dtype, tensor.len());
            Tensor::from_vec(tensor.shape(), codes)
        };
        let result = body(&operands.iter().map(unpack).collect::<Result<Vec<_>>>()?)?;
        Tensor::from_bytes(dtype, result.shape(), packed::pack(result.bytes(), dtype))
    } else {
        body(&operands.iter().map(|&tensor| tensor.clone()).collect::<Vec<_>>())
    }
}

fn moving_strings(
    operands: &[&Tensor],
    body: impl FnOnce(&[Tensor]) -> Result<Tensor>,
) -> Result<Tensor> {
    let mut pool: Vec<&Vec<u8>> = Vec::new();
    let mut indices = Vec::with_capacity(operands.len());
    for tensor in operands {
        let start = pool.len() as u64;
        pool.extend(tensor.strings().unwrap_or_default());
        indices.push(Tensor::from_vec(tensor.shape(), (start..pool.len() as u64).collect())?);
    }
    let result = body(&indices)?;
    checked_count(DType::String, result.shape())?;
    let picked: Vec<Vec<u8>> =
        result.view::<u64>()?.iter().map(|&index| pool[index as usize].clone()).collect();
    Tensor::from_strings(result.shape(), picked)
}

/// A rearranged reading of a row-major tensor: transposed, sliced, reversed, stretched.
#[derive(Clone, Debug)]
pub struct View {
    /// Position of the first element.
    pub offset: isize,
    /// Sizes of the reading.
    pub shape: Shape,
    /// Distances between neighbours in the tensor read.
    pub strides: Strides,
}

impl View {
    /// Reads a tensor of this shape as it is.
    pub fn whole(shape: &[usize]) -> View {
        View { offset: 0, shape: shape.into(), strides: row_major(shape) }
    }

    /// Reorders the axes: axis `i` of the result is axis `perm[i]`.
    pub fn permuted(self, perm: &[usize]) -> View {
        View {
            offset: self.offset,
            shape: perm.iter().map(|&axis| self.shape[axis]).collect(),
            strides: perm.iter().map(|&axis| self.strides[axis]).collect(),
        }
    }

    /// Keeps `count` elements along an axis, from `start` on, `step` apart.
    pub fn sliced(mut self, axis: usize, start: usize, step: isize, count: usize) -> View {
        if count > 0 {
            self.offset += start as isize * self.strides[axis];
        }
        self.strides[axis] = self.strides[axis].saturating_mul(step);
        self.shape[axis] = count;
        self
    }

    /// Copies what the view reads into a new tensor.
    ///
    /// # Errors
    /// [`KernelError::TooLarge`] if the copy would be.
    pub fn copy(&self, kernel: &'static str, source: &Tensor) -> Result<Tensor> {
        moving(kernel, &[source], |operands| {
            let dtype = operands[0].dtype();
            let len = checked_count(dtype, &self.shape)?;
            with_cells!(kernel, dtype, C => {
                let copied = self.copy_cells::<C>(cells(&operands[0]), len);
                from_cells(dtype, &self.shape, copied)
            })
        })
    }

    fn copy_cells<C: Cell>(&self, source: &[C], len: usize) -> Vec<C> {
        if len == 0 {
            return Vec::new();
        }
        let target = row_major(&self.shape);
        let mut nest = Nest::new(&self.shape, [&self.strides, &target]);
        let (run, [step, _]) = nest.take_inner();
        let start = [self.offset, 0];
        let mut out = vec![C::zeroed(); len];
        match step {
            1 => nest.walk(start, |[from, to]| {
                out[to as usize..][..run].copy_from_slice(&source[from as usize..][..run]);
            }),
            0 => nest.walk(start, |[from, to]| {
                out[to as usize..][..run].fill(source[from as usize]);
            }),
            _ => match nest.axes().iter().position(|&(_, [step, _])| step == 1) {
                Some(axis) => {
                    let (columns, [_, row]) = nest.take_axis(axis);
                    let plane = Plane { columns, row: row as usize, run, step };
                    nest.walk(start, |[from, to]| {
                        plane.copy(source, from, &mut out[to as usize..]);
                    });
                }
                None => nest.walk(start, |[from, to]| {
                    let mut at = from;
                    for cell in &mut out[to as usize..][..run] {
                        *cell = source[at as usize];
                        at = at.wrapping_add(step);
                    }
                }),
            },
        }
        out
    }
}

/// A plane whose rows are contiguous in the result and whose columns are in the source.
struct Plane {
    /// Number of rows of the result, neighbours in the source.
    columns: usize,
    /// Distance of two rows in the result.
    row: usize,
    /// Length of a row of the result.
    run: usize,
    /// Distance of two elements of a row in the source.
    step: isize,
}

impl Plane {
    /// Copies in square tiles, so that both sides stay in the cache.
    fn copy<C: Cell>(&self, source: &[C], from: isize, out: &mut [C]) {
        let tile = const { if size_of::<C>() < 8 { 64 / size_of::<C>() } else { 8 } };
        for left in (0..self.run).step_by(tile) {
            let width = tile.min(self.run - left);
            for top in (0..self.columns).step_by(tile) {
                for row in top..(top + tile).min(self.columns) {
                    let mut at = from + row as isize + left as isize * self.step;
                    for cell in &mut out[row * self.row + left..][..width] {
                        *cell = source[at as usize];
                        at = at.wrapping_add(self.step);
                    }
                }
            }
        }
    }
}
