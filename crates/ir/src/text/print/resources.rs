//! The big tensors, after the module.

use std::fmt;

use super::Printer;

/// What MLIR stores before the bytes: the alignment that the buffer has to have.
const ALIGNMENT: u32 = 8;

impl<W: fmt::Write> Printer<'_, W> {
    /// The footer with every resource, in order of their keys; nothing if there is none.
    pub(super) fn resources(&mut self) -> fmt::Result {
        let resources = self.module.resources();
        let length = |key| resources.find(key).map_or(0, |bytes| bytes.len());
        let (out, mut keys): (Vec<_>, Vec<_>) =
            resources.keys().partition(|&key| self.is_elided(length(key)));
        let left_out = out.iter().map(|&key| length(key)).sum();
        if keys.is_empty() {
            return self.elided_resources(out.len(), left_out);
        }
        keys.sort_by_key(|&key| self.context.text(key));
        self.write("\n{-#\n  dialect_resources: {\n    builtin: {\n")?;
        for (i, &key) in keys.iter().enumerate() {
            let Some(bytes) = resources.find(key) else { continue };
            self.write(if i == 0 { "      " } else { ",\n      " })?;
            self.key(self.context.text(key))?;
            self.write(": \"0x")?;
            self.hex_bytes(&ALIGNMENT.to_le_bytes())?;
            self.hex_bytes(bytes)?;
            self.write("\"")?;
        }
        self.write("\n    }\n  }\n#-}\n")?;
        self.elided_resources(out.len(), left_out)
    }
}
