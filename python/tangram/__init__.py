"""Tangram rearranges tensor programs into faster ones that compute the same."""

from tangram._native import version

__version__ = version()

__all__ = ["__version__", "version"]
