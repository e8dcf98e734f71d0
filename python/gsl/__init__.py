"""GSL, the graph substitution language: patterns, attributes, operations, substitutions."""

__all__: list[str] = []
