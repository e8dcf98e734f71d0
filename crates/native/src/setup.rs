//! Constants as compiled code wants them: read, and copied once by the functions of a program.

use rustc_hash::FxHashMap;
use tangram_affine::symbolic::Expr;
use tangram_dialects::constant;
use tangram_ir::Module;
use tangram_lowering::{Buffer, Program, Storage};
use tangram_tensor::Tensor;

use crate::error::SessionError;
use crate::library::{Argument, Fault, Function, Library};
use crate::memory::{Block, readable};
use crate::team::Team;

fn broken(what: &str) -> SessionError {
    SessionError::Broken(what.to_owned())
}

/// Reads the constants that fill buffers: for each buffer its elements, if it is one of these.
pub(crate) fn constants(
    module: &Module,
    program: &Program,
) -> Result<Vec<Option<Tensor>>, SessionError> {
    let read = |buffer: &Buffer| {
        let Storage::Constant(value) = buffer.storage else { return Ok(None) };
        let tensor = constant::constant_tensor(module, value)
            .ok_or_else(|| broken("a buffer of a constant that cannot be read"))?;
        let tensor = readable(&tensor).ok_or_else(|| SessionError::Memory(tensor.byte_len()))?;
        Ok(Some(tensor))
    };
    program.buffers.iter().map(read).collect()
}

/// Fills the buffers that are made of constants.
pub(crate) fn run(
    program: &Program,
    library: Option<&Library>,
    filled: &mut [Option<Tensor>],
) -> Result<(), SessionError> {
    let mut functions: FxHashMap<&str, Function> = FxHashMap::default();
    for call in &program.setup {
        let library = library.ok_or_else(|| broken("calls without code"))?;
        if !functions.contains_key(call.function.as_str()) {
            functions.insert(&call.function, library.function(&call.function)?);
        }
        let (mut blocks, mut buffers, mut written) = (Vec::new(), Vec::new(), Vec::new());
        for &buffer in &call.buffers {
            if let Some(tensor) = &filled[buffer] {
                buffers.push(Argument::Shared(tensor.bytes()));
                continue;
            }
            let Buffer { element, size, .. } = &program.buffers[buffer];
            let len = size.as_int().and_then(|size| usize::try_from(size).ok());
            let len = len.ok_or_else(|| SessionError::Size(size.to_string()))?;
            let bytes = element.byte_len(len).ok_or(SessionError::Memory(len))?;
            blocks.push(Block::zeroed(bytes).ok_or(SessionError::Memory(bytes))?);
            buffers.push(Argument::Block(blocks.len() - 1, 0));
            written.push((buffer, *element, len));
        }
        let arguments: Option<Vec<i64>> = call.arguments.iter().map(Expr::as_int).collect();
        let arguments = arguments.ok_or_else(|| broken("a copy of unknown size"))?;
        let alone = (&mut Team::alone(), 1);
        let function = &functions[call.function.as_str()];
        function.call(&arguments, &mut blocks, &buffers, alone).map_err(|fault| match fault {
            Fault::Buffer => broken("a copy of a constant lies outside its memory"),
            Fault::Index => SessionError::Index,
        })?;
        for ((buffer, element, len), block) in written.into_iter().zip(blocks) {
            filled[buffer] = Some(Tensor::from_bytes(element, [len], block.into_bytes())?);
        }
    }
    Ok(())
}
