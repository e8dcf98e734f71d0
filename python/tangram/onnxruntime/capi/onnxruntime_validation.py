"""What onnxruntime says of its own package."""

from __future__ import annotations

from tangram._environment import ONNXRUNTIME
from tangram.onnxruntime import _alias

_alias.unify(__name__)


def check_distro_info() -> None:
    """Does nothing: every system with a C compiler will do."""


def get_package_name_and_version_info() -> tuple[str, str, str]:
    """Returns the name, the version of the interface, and that of CUDA: none."""
    return "onnxruntime", ONNXRUNTIME, ""


def check_training_module() -> tuple[None, bool, str, str, str]:
    """Says that models are not trained here."""
    return None, False, *get_package_name_and_version_info()
