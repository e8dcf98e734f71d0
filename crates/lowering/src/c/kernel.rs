//! Functions that nests call, micro-kernels of products above all: IR first, whose text is printed by the
//! table of GNU C.

use std::sync::Arc;

use tangram_ir::{Context, Module, Op};
use tangram_kernel::{Body, Element, Program, RegisterTile, StepError};
use tangram_target::{GNU_C, function};

/// A function that other functions call.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Kernel {
    pub name: String,
    pub text: String,
    /// The product that it is the micro-kernel of, where its IR is known.
    product: Option<Product>,
}

/// The product of a tile, in registers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Product {
    element: Element,
    tile: RegisterTile,
    /// The columns of a panel.
    panel: usize,
}

impl Product {
    fn add_to(self, module: &mut Module, name: &str) -> Result<Op, StepError> {
        let program = Program::for_tile(&Body::product(), &self.tile)?;
        program.to_ir(module, name, self.element, self.panel)
    }
}

impl Kernel {
    /// A function of which there is text alone.
    pub fn of_text(name: String, text: String) -> Kernel {
        Kernel { name, text, product: None }
    }

    /// The product of a tile with as many rows.
    ///
    /// # Errors
    /// [`StepError`] if there is no program of such a tile.
    pub fn of(element: Element, tile: RegisterTile, rows: usize) -> Result<Kernel, StepError> {
        let name = Kernel::name(element, tile, rows);
        let product =
            Product { element, tile: RegisterTile { rows, ..tile }, panel: tile.columns() };
        Kernel::of_product(name, product)
    }

    /// The product of one row with `panels` panels at once.
    pub fn of_row(
        element: Element,
        tile: RegisterTile,
        panels: usize,
    ) -> Result<Kernel, StepError> {
        let wide = RegisterTile { rows: 1, vectors: panels * tile.vectors, ..tile };
        let product = Product { element, tile: wide, panel: tile.columns() };
        Kernel::of_product(Kernel::row_name(element, tile, panels), product)
    }

    fn of_product(name: String, product: Product) -> Result<Kernel, StepError> {
        // Definitions of operations are for verifiers and readers of text, not for a printer.
        let mut module = Module::new(Context::new());
        let made = product.add_to(&mut module, &name)?;
        let text = function(&module, made, &GNU_C)?;
        Ok(Kernel { name, text, product: Some(product) })
    }

    /// What that of one row with so many panels is called.
    pub fn row_name(element: Element, tile: RegisterTile, panels: usize) -> String {
        format!("{}_{panels}", Kernel::name(element, tile, 1))
    }

    /// What the product of a tile with as many rows is called.
    pub fn name(element: Element, tile: RegisterTile, rows: usize) -> String {
        let RegisterTile { vectors, width, .. } = tile;
        let element = match element {
            Element::F32 => "f32",
            Element::F64 => "f64",
            Element::Pairs => "pairs",
            Element::PairsOfBytes => "bytes",
        };
        format!("tg_tile_{element}_{rows}x{vectors}x{width}")
    }
}

/// The micro-kernels among functions, as one module.
///
/// # Errors
/// [`StepError`] as for each of them.
pub(crate) fn module(context: Arc<Context>, kernels: &[Kernel]) -> Result<Module, StepError> {
    let mut module = Module::new(context);
    for kernel in kernels {
        if let Some(product) = kernel.product {
            product.add_to(&mut module, &kernel.name)?;
        }
    }
    Ok(module)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tile_without_a_program_is_an_error_and_no_empty_kernel() {
        let tile = RegisterTile { rows: 6, vectors: 2, width: 8 };
        let kernel = Kernel::of(Element::F32, tile, 3).expect("a kernel");
        assert!(kernel.text.contains("tg_tile_f32_3x2x8("), "{}", kernel.text);
        let none = RegisterTile { width: 0, ..tile };
        let expected = StepError::Width { columns: 0, width: 0 };
        assert_eq!(Kernel::of(Element::F32, none, 3), Err(expected.clone()));
        assert_eq!(Kernel::of_row(Element::F32, none, 4), Err(expected));
    }
}
