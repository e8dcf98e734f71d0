//! The big tensors, after the module, and what tools put there.

use std::fmt;

use super::Printer;
use crate::context::Str;
use crate::resource::ForeignResource;

/// What MLIR stores before the bytes where nothing else is asked for: the alignment that the buffer
/// has to have.
pub(crate) const ALIGNMENT: u32 = 8;

/// A value in the footer.
enum Entry<'r> {
    /// The buffer under a key.
    Buffer(Str),
    /// What is carried along.
    Foreign(&'r ForeignResource),
}

impl<'a, W: fmt::Write> Printer<'a, W> {
    /// The footer with every resource, in order of their keys; nothing if there is none.
    pub(super) fn resources(&mut self) -> fmt::Result {
        let (context, resources) = (self.context, self.module.resources());
        let length = |key| resources.find(key).map_or(0, |bytes| bytes.len());
        let (out, mut keys): (Vec<_>, Vec<_>) =
            resources.keys().partition(|&key| self.is_elided(length(key)));
        keys.sort_by_key(|&key| context.text(key));
        let mut left_out: Vec<usize> = out.iter().map(|&key| length(key)).collect();
        let builtin = keys.into_iter().map(|key| (false, "builtin", Entry::Buffer(key)));
        let mut entries: Vec<(bool, &'a str, Entry<'a>)> = builtin.collect();
        for foreign in resources.foreign() {
            let size = context.text(foreign.value).len();
            match self.is_elided(size) {
                true => left_out.push(size),
                false => {
                    let owner = context.text(foreign.owner);
                    entries.push((foreign.external, owner, Entry::Foreign(foreign)));
                }
            }
        }
        // Those of dialects come first; all of one owner stand together.
        entries.sort_by_key(|entry| (entry.0, entry.1 != "builtin", entry.1));
        self.sections(&entries)?;
        self.elided_resources(left_out.len(), left_out.iter().sum())
    }

    fn sections(&mut self, entries: &[(bool, &str, Entry<'_>)]) -> fmt::Result {
        let mut sections = entries.chunk_by(|a, b| a.0 == b.0).peekable();
        if sections.peek().is_none() {
            return Ok(());
        }
        self.write("\n{-#\n")?;
        while let Some(section) = sections.next() {
            let external = section.first().is_some_and(|entry| entry.0);
            self.write(if external {
                "  external_resources: {\n"
            } else {
                "  dialect_resources: {\n"
            })?;
            let mut owners = section.chunk_by(|a, b| a.1 == b.1).peekable();
            while let Some(owner) = owners.next() {
                self.write("    ")?;
                self.key(owner.first().map_or("", |entry| entry.1))?;
                self.write(": {\n      ")?;
                for (i, (_, _, entry)) in owner.iter().enumerate() {
                    self.write(if i == 0 { "" } else { ",\n      " })?;
                    self.resource(entry)?;
                }
                self.write(if owners.peek().is_some() { "\n    },\n" } else { "\n    }\n" })?;
            }
            self.write(if sections.peek().is_some() { "  },\n" } else { "  }\n" })?;
        }
        self.write("#-}\n")
    }

    fn resource(&mut self, entry: &Entry<'_>) -> fmt::Result {
        let resources = self.module.resources();
        match *entry {
            Entry::Buffer(key) => {
                self.key(self.context.text(key))?;
                self.write(": \"0x")?;
                let alignment = resources.alignment(key).unwrap_or(ALIGNMENT);
                self.hex_bytes(&alignment.to_le_bytes())?;
                self.hex_bytes(resources.find(key).map_or(&[], |bytes| bytes.as_ref()))?;
                self.write("\"")
            }
            Entry::Foreign(foreign) => {
                self.key(self.context.text(foreign.key))?;
                self.write(": ")?;
                self.write(self.context.text(foreign.value))
            }
        }
    }
}
