//! The elements of small constant tensors.

use std::fmt;

use num_bigint::{BigInt, BigUint};

use super::Printer;
use crate::shaped::shape;
use crate::text::float;
use crate::types::{Signedness, Type, TypeData};

/// Above this number of elements they are written as one hexadecimal string.
const MAX_LISTED: usize = 100;

impl<W: fmt::Write> Printer<'_, W> {
    /// `dense<...>` without its type.
    pub(super) fn dense(&mut self, ty: Type, bytes: &[u8], splat: bool) -> fmt::Result {
        self.write("dense<")?;
        let (dims, element) = shape(self.context, ty).unwrap_or((Vec::new(), ty));
        let size = self.context.element_bytes(element).unwrap_or(1).max(1);
        if splat || self.is_uniform(ty, bytes) {
            self.element(element, &bytes[..size.min(bytes.len())])?;
        } else if bytes.len() / size > MAX_LISTED {
            self.hex(element, bytes)?;
        } else if !bytes.is_empty() {
            self.nested(&dims, element, bytes, size)?;
        }
        self.write(">")
    }

    /// Elements in brackets, one pair for each dimension.
    fn nested(&mut self, dims: &[i64], element: Type, bytes: &[u8], size: usize) -> fmt::Result {
        // How many elements one bracket of each dimension spans.
        let mut spans: Vec<usize> = Vec::with_capacity(dims.len());
        let mut span = 1usize;
        for &dim in dims.iter().rev() {
            span = span.saturating_mul(dim.max(1) as usize);
            spans.push(span);
        }
        let count = bytes.len() / size;
        for (i, chunk) in bytes.chunks_exact(size).enumerate() {
            let opened = spans.iter().filter(|&&span| i % span == 0).count();
            self.write(if i == 0 { "" } else { ", " })?;
            for _ in 0..opened {
                self.write("[")?;
            }
            self.element(element, chunk)?;
            let next = i + 1;
            let closed = spans.iter().filter(|&&span| next % span == 0 || next == count).count();
            for _ in 0..closed {
                self.write("]")?;
            }
        }
        Ok(())
    }

    /// `"0x..."`: the bytes in order; booleans packed into bits, the lowest first.
    fn hex(&mut self, element: Type, bytes: &[u8]) -> fmt::Result {
        self.write("\"0x")?;
        if self.context.is_boolean(element) {
            for chunk in bytes.chunks(8) {
                let bits = chunk.iter().enumerate().map(|(i, &b)| u8::from(b != 0) << i);
                self.hex_bytes(&[bits.fold(0, |all, bit| all | bit)])?;
            }
        } else {
            self.hex_bytes(bytes)?;
        }
        self.write("\"")
    }

    pub(super) fn hex_bytes(&mut self, bytes: &[u8]) -> fmt::Result {
        const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
        let mut text = [0u8; 512];
        for chunk in bytes.chunks(text.len() / 2) {
            for (i, b) in chunk.iter().enumerate() {
                text[2 * i] = DIGITS[usize::from(b >> 4)];
                text[2 * i + 1] = DIGITS[usize::from(b & 15)];
            }
            self.write(std::str::from_utf8(&text[..2 * chunk.len()]).unwrap_or_default())?;
        }
        Ok(())
    }

    /// One element, without its type.
    pub(super) fn element(&mut self, ty: Type, bytes: &[u8]) -> fmt::Result {
        match self.context.type_data(ty) {
            TypeData::Float(kind) => {
                let kind = *kind;
                float::write(self.out, unsigned(bytes), kind)
            }
            TypeData::Complex(part) => {
                let (re, im) = bytes.split_at(bytes.len() / 2);
                self.write("(")?;
                self.scalar(*part, re)?;
                self.write(",")?;
                self.scalar(*part, im)?;
                self.write(")")
            }
            _ => self.scalar(ty, bytes),
        }
    }

    fn scalar(&mut self, ty: Type, bytes: &[u8]) -> fmt::Result {
        match self.context.type_data(ty) {
            TypeData::Float(kind) => {
                let kind = *kind;
                float::write(self.out, unsigned(bytes), kind)
            }
            TypeData::Integer { sign: Signedness::Unsigned, width } if *width > 128 => {
                write!(self.out, "{}", BigUint::from_bytes_le(bytes))
            }
            TypeData::Integer { width, .. } if *width > 128 => {
                write!(self.out, "{}", BigInt::from_signed_bytes_le(bytes))
            }
            TypeData::Integer { sign: Signedness::Unsigned, .. } => {
                write!(self.out, "{}", unsigned(bytes))
            }
            _ => self.integer(signed(bytes), ty),
        }
    }
}

fn unsigned(bytes: &[u8]) -> u128 {
    bytes.iter().take(16).rev().fold(0, |all, &b| all << 8 | u128::from(b))
}

fn signed(bytes: &[u8]) -> i128 {
    let unused = 128 - 8 * bytes.len().min(16) as u32;
    let value = unsigned(bytes) as i128;
    if unused == 128 { 0 } else { value << unused >> unused }
}
