"""Sets and schedules: what a type checker accepts, and on the lines with `# error` what it has to refuse."""

from typing import assert_type

from tangram.presburger import Map, Set

s = Set("{ [i] : 0 <= i < 4 }")
assert_type(s.intersect(s), Set)
assert_type(s.is_empty(), bool)
assert_type(Map("{ [i] -> [j] : j = i + 1 }").reverse(), Map)

s.intersekt(s)  # error
s.intersect(3)  # error
Set()  # error
