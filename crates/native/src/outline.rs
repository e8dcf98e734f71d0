//! Parts of functions as functions of their own.

use rustc_hash::FxHashMap;
use tangram_affine::symbolic::Expr;
use tangram_dialects::dims;
use tangram_ir::{
    Block, Context, Dim, Loc, Module, Op, OpState, Order, Point, Type, TypeData, Value, walk,
};
use tangram_rewrite::{Mapping, Rewriter, Silent};

/// Copies `ops` to a new function of `arguments`, each a value that they read and the type by which
/// the function takes it. Returns the function, and what each value became in it.
pub(crate) fn function(
    module: &mut Module,
    arguments: &[(Value, Type)],
    ops: &[Op],
) -> (Op, Mapping) {
    let name = module.context().name("func.func");
    let mut state = OpState::new(name, Loc::UNKNOWN);
    state.regions = 1;
    let body = module.body();
    let function = module.create_at(Point::End(body), state);
    let region = module.region(function, 0);
    let copy = module.add_block(region);
    let mut mapping = Mapping::new();
    let mut names = Names { function, known: FxHashMap::default(), count: 0 };
    for &(value, ty) in arguments {
        let ty = names.argument_type(module.context(), ty);
        let argument = module.add_arg(copy, ty);
        mapping.map(value, argument);
    }
    let mut silent = Silent;
    let mut rewriter = Rewriter::new(module, &mut silent);
    let copies: Vec<Op> =
        ops.iter().map(|&op| rewriter.clone_op(op, Point::End(copy), &mut mapping)).collect();
    for copied in copies {
        forget_extents(module, copied);
    }
    (function, mapping)
}

/// The block of a function.
pub(crate) fn block(module: &Module, function: Op) -> Option<Block> {
    module.regions(function).first().and_then(|&region| module.first_block(region))
}

/// Whether a value is the same in every run, and copied rather than handed on.
pub(crate) fn is_constant(module: &Module, value: Value) -> bool {
    let name = module.def_op(value).map(|def| module.name_text(def));
    matches!(name, Some("nn.constant" | "nn.none"))
}

/// Names for the extents of the arguments of a new function, which a run gives values.
struct Names {
    function: Op,
    known: FxHashMap<Dim, Dim>,
    count: usize,
}

impl Names {
    /// The type of an argument: extents that are no number and no plain symbol get a name of their
    /// own, the same one where they are the same.
    fn argument_type(&mut self, context: &Context, ty: Type) -> Type {
        let Some((extents, element)) = context.as_tensor(ty) else { return ty };
        let named: Vec<Dim> = extents.iter().map(|&extent| self.named(context, extent)).collect();
        context.tensor_type(&named, element)
    }

    fn named(&mut self, context: &Context, extent: Dim) -> Dim {
        let known = dims::expr(context, extent);
        if known.as_ref().is_some_and(|expr| expr.is_int() || expr.as_symbol().is_some()) {
            return extent;
        }
        if let Some(&named) = self.known.get(&extent) {
            return named;
        }
        let symbol = Expr::symbol(&format!("?{:?}.{}", self.function, self.count));
        self.count += 1;
        let named = dims::dim(context, &symbol);
        if known.is_some() {
            self.known.insert(extent, named);
        }
        named
    }
}

/// Leaves open what the copy was said to give, since symbols around the body are not known in it:
/// inference finds it anew from the arguments.
fn forget_extents(module: &mut Module, op: Op) {
    if matches!(module.name_text(op), "nn.constant" | "nn.none") {
        return;
    }
    let ops = walk(module, op, Order::Pre);
    for op in ops {
        let results: Vec<Value> = module.results(op).collect();
        for value in results {
            let context = module.context();
            let ty = module.value_type(value);
            let Some((extents, element)) = context.as_tensor(ty) else { continue };
            let fixed = extents.iter().all(|extent| extent.as_static().is_some());
            if !fixed {
                let open = context.ty(TypeData::UnrankedTensor(element));
                module.set_value_type(value, open);
            }
            module.set_contents(value, None);
        }
    }
}
