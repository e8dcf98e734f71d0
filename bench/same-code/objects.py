"""Machine code of an object file, function by function, independent of names and of order.

A function is the section that `-ffunction-sections` gives it. Its identity is a hash of its bytes and
of what its relocations point to: another function by that function's identity, a constant or a
table by its content, an undefined symbol by name. So two files whose functions are numbered or
ordered otherwise, and are the same code, have the same identities.
"""

from __future__ import annotations

import dataclasses
import hashlib
import pathlib

from elftools.elf.elffile import ELFFile
from elftools.elf.relocation import RelocationSection
from elftools.elf.sections import Section, SymbolTableSection

ALLOCATED, MERGED = 0x2, 0x10
X86_64 = "EM_X86_64"


@dataclasses.dataclass(frozen=True)
class Function:
    """A function's name, its identity, and how many bytes it has."""

    name: str
    identity: str
    size: int


class _Object:
    def __init__(self, elf: ELFFile) -> None:
        self.elf = elf
        self.sections: list[Section] = list(elf.iter_sections())
        self.relocations: dict[int, list] = {}
        self.symbols: list = []
        for section in self.sections:
            if isinstance(section, SymbolTableSection) and section.name == ".symtab":
                self.symbols = list(section.iter_symbols())
            if isinstance(section, RelocationSection):
                self.relocations[section["sh_info"]] = list(section.iter_relocations())
        self.known: dict[int, str] = {}
        self.is_open: set[int] = set()

    def identity(self, at: int) -> str:
        """The identity of a section: its bytes, and what its relocations point to."""
        if at in self.known:
            return self.known[at]
        if at in self.is_open:
            return "itself"
        self.is_open.add(at)
        section = self.sections[at]
        digest = hashlib.sha256()
        if section["sh_type"] == "SHT_NOBITS":
            digest.update(str(section["sh_size"]).encode())
        else:
            digest.update(section.data())
        for relocation in self.relocations.get(at, []):
            entry = relocation.entry
            said = (entry["r_offset"], entry["r_info_type"], self._target(entry))
            digest.update(repr(said).encode())
        self.is_open.discard(at)
        self.known[at] = digest.hexdigest()
        return self.known[at]

    def _target(self, entry) -> tuple:
        symbol = self.symbols[entry["r_info_sym"]]
        at, addend = symbol["st_shndx"], entry.get("r_addend", 0)
        if not isinstance(at, int):
            return (symbol.name, addend)
        section = self.sections[at]
        is_section = symbol["st_info"]["type"] == "STT_SECTION"
        if section["sh_flags"] & MERGED:
            # Where a constant lies in its pool depends on the others: its content says which it is.
            size = max(1, section["sh_entsize"])
            place = symbol["st_value"]
            if is_section:
                # A relative address of x86 is counted from the end of its four bytes.
                place += addend + (4 if self.elf["e_machine"] == X86_64 else 0)
                addend = 0
            place -= place % size
            return (section.data()[place : place + size], addend)
        return (self.identity(at), symbol["st_value"], addend)


def functions(path: pathlib.Path) -> list[Function]:
    """Reads the functions of an object file.

    Raises:
        elftools.common.exceptions.ELFError: It is none.
    """
    with path.open("rb") as file:
        held = _Object(ELFFile(file))
        found = []
        for at, section in enumerate(held.sections):
            is_code = section.name.startswith(".text.") and section["sh_flags"] & ALLOCATED
            if is_code and section["sh_size"]:
                name = section.name.removeprefix(".text.")
                found.append(Function(name, held.identity(at), section["sh_size"]))
        return found
