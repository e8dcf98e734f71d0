"""The package as onnxruntime names it."""

from tangram._environment import ONNXRUNTIME
from tangram.onnxruntime import _alias

_alias.unify(__name__)

package_name = "onnxruntime"
__version__ = ONNXRUNTIME
