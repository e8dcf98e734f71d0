"""Everything that islpy's programs use, under islpy's names: ``import tangram.isl as isl``.

It is what :mod:`tangram.presburger` and :mod:`tangram.polyhedral` hold; what differs from islpy
is listed there.
"""

import re

from tangram.polyhedral import *  # noqa: F403
from tangram.polyhedral import __all__ as _schedules
from tangram.presburger import *  # noqa: F403
from tangram.presburger import __all__ as _sets
from tangram.presburger import dim_type

__all__ = [*_sets, *_schedules]  # noqa: PLE0604

# Programs that make keys of values look up how isl calls their kinds: `basic_set`, `pw_aff`.
for _name in __all__:
    _kind = globals()[_name]
    if isinstance(_kind, type) and _kind.__module__.startswith("tangram.") and _kind.__name__ == _name:
        _base_name = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", _name).lower()
        setattr(_kind, "_base_name", _base_name)  # noqa: B010

# Programs go through the kinds of dimensions that values have, by a name that is not public in islpy.
_CHECK_DIM_TYPES = (dim_type.in_, dim_type.param, dim_type.set)
