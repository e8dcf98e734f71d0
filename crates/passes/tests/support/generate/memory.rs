//! Buffers, and affine maps of indices.

use super::{CELLS, Generator};

impl Generator {
    /// An index below the number of elements.
    pub(super) fn inside(&mut self) -> String {
        if self.random.below(2) == 0 {
            let at = self.random.below(CELLS) as i64;
            return self.constant(at, "index");
        }
        let (index, mask) = (self.index(), self.constant(CELLS as i64 - 1, "index"));
        self.value(&format!("\"arith.andi\"({index}, {mask}) : (index, index) -> index"))
    }

    pub(super) fn load(&mut self) {
        let (buffer, at) = (self.buffer(), self.inside());
        let value =
            self.value(&format!("\"memref.load\"({buffer}, {at}) : (memref<8xi32>, index) -> i32"));
        self.ints.push(value);
    }

    pub(super) fn store(&mut self) {
        let (value, buffer, at) = (self.int(), self.buffer(), self.inside());
        self.line(&format!(
            "\"memref.store\"({value}, {buffer}, {at}) : (i32, memref<8xi32>, index) -> ()"
        ));
    }

    /// A new buffer with its first element set, so that what is read is known.
    pub(super) fn alloc(&mut self) {
        let buffer = self.value(
            "\"memref.alloc\"() <{operandSegmentSizes = array<i32: 0, 0>}> : () -> memref<8xi32>",
        );
        let source = self.buffer();
        self.line(&format!(
            "\"memref.copy\"({source}, {buffer}) : (memref<8xi32>, memref<8xi32>) -> ()"
        ));
        if self.random.below(4) > 0 {
            self.buffers.push(buffer);
        }
    }

    pub(super) fn expression(&mut self, names: &[&str]) -> String {
        let mut text = self.random.one_of(names).to_owned();
        for _ in 0..self.random.below(3) {
            let number = self.random.below(5) + 1;
            let other = self.random.one_of(names);
            text = match self.random.below(6) {
                0 => format!("({text}) * {number}"),
                1 => format!("({text}) floordiv {number}"),
                2 => format!("({text}) mod {}", number + 1),
                3 => format!("({text}) ceildiv {number}"),
                4 => format!("{text} + {other}"),
                _ => format!("{text} - {number}"),
            };
        }
        text
    }

    pub(super) fn apply(&mut self) {
        let (a, b) = (self.affine_value(), self.affine_value());
        let expression = self.expression(&["d0", "d1"]);
        let value = self.value(&format!(
            "\"affine.apply\"({a}, {b}) <{{map = affine_map<(d0, d1) -> ({expression})>}}> : (index, \
             index) -> index"
        ));
        self.affine.push(value.clone());
        self.indices.push(value);
    }

    pub(super) fn bound(&mut self) {
        let (a, b) = (self.affine_value(), self.affine_value());
        let name = self.random.one_of(&["min", "max"]);
        let (first, second) = (self.expression(&["d0", "d1"]), self.expression(&["d0"]));
        let value = self.value(&format!(
            "\"affine.{name}\"({a}, {b}) <{{map = affine_map<(d0, d1) -> ({first}, {second}, 3)>}}> \
             : (index, index) -> index"
        ));
        self.indices.push(value.clone());
    }

    pub(super) fn affine_load(&mut self) {
        let (buffer, at) = (self.buffer(), self.affine_value());
        let expression = self.expression(&["d0"]);
        let value = self.value(&format!(
            "\"affine.load\"({buffer}, {at}) <{{map = affine_map<(d0) -> (({expression}) mod 8)>}}> \
             : (memref<8xi32>, index) -> i32"
        ));
        self.ints.push(value);
    }

    pub(super) fn affine_store(&mut self) {
        let (value, buffer, at) = (self.int(), self.buffer(), self.affine_value());
        self.line(&format!(
            "\"affine.store\"({value}, {buffer}, {at}) <{{map = affine_map<(d0) -> ((d0 + 1) mod \
             8)>}}> : (i32, memref<8xi32>, index) -> ()"
        ));
    }
}
