//! Block headers and references to blocks.

use rustc_hash::FxHashMap;

use super::{Failed, Kind, Parsed, Parser, Token};
use crate::module::{Block, Region};

/// The named blocks of a region; `Some` token for one that is used and not defined yet.
#[derive(Default)]
pub(super) struct Blocks<'a> {
    names: FxHashMap<&'a str, (Block, Option<Token>)>,
}

impl<'a> Parser<'a> {
    /// The block that `token` names, made if it is new.
    pub(super) fn block_use(&mut self, token: Token, blocks: &mut Blocks<'a>) -> Block {
        let name = self.spelling(token);
        let module = &mut *self.module;
        blocks.names.entry(name).or_insert_with(|| (module.detached_block(), Some(token))).0
    }

    /// `^bb0(%arg0: i32):`.
    pub(super) fn block_header(
        &mut self,
        region: Region,
        blocks: &mut Blocks<'a>,
    ) -> Parsed<Block> {
        let token = self.take();
        let name = self.spelling(token);
        let block = self.block_use(token, blocks);
        let defined = blocks.names.insert(name, (block, None));
        if self.module.block_region(block).is_some() {
            let message = format!("expected a new block, found `{name}`, which is defined already");
            return self.error(token, "redefinition", message);
        }
        debug_assert!(defined.is_some());
        self.module.insert_block(block, region, None);
        if self.accept(b'(') {
            self.list(b')', |p| p.block_arg(block))?;
        }
        self.expect(b':', "after the block")?;
        Ok(block)
    }

    fn block_arg(&mut self, block: Block) -> Parsed<()> {
        let name = self.expect_kind(Kind::Percent, "an argument")?;
        self.expect(b':', "before the type of the argument")?;
        let ty = self.ty()?;
        let loc = self.argument_loc()?;
        let value = self.module.add_arg(block, ty);
        self.locate_argument(value, name, loc);
        self.define_arg(name, value)
    }

    /// Reports the blocks of a finished region that were used only.
    pub(super) fn undefined_blocks(&mut self, blocks: Blocks<'a>) {
        let mut missing: Vec<(&str, Token)> =
            blocks.names.into_iter().filter_map(|(name, (_, used))| Some((name, used?))).collect();
        missing.sort_by_key(|(_, token)| token.start);
        for (name, token) in missing {
            let message = format!("expected a block of this region, found `{name}`");
            let Err(Failed) = self.error::<()>(token, "undefined-block", message) else { continue };
        }
    }
}
