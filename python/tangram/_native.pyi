"""The native half of Tangram."""

def version() -> str:
    """Returns the version of the library."""
