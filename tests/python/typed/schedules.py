"""Schedules and code: what a type checker accepts, and on the lines with `# error` what it has to refuse."""

from typing import assert_type

from tangram.polyhedral import AstBuild, AstNode, Schedule
from tangram.presburger import AffList, Aff, Map, Set, Val

schedule = Schedule("domain: '{ S[i] : 0 <= i < 4 }'")
assert_type(str(schedule), str)
build = AstBuild.from_context(Set("[n] -> { : n > 0 }"))
assert_type(build, AstBuild)
assert_type(build.node_from_schedule(schedule), AstNode)
assert_type(Set("{ [i] : 0 <= i < 4 }").max_val(Aff("{ [i] -> [(i)] }")), Val | None)
affs = AffList.from_aff(Aff("{ [i] -> [(i)] }"))
assert_type(affs.get_aff(0), Aff)
assert_type(affs.n_aff(), int)

affs.get_aff("0")  # error
affs.set_aff(0, Map("{ [i] -> [i] }"))  # error
schedule.domian  # error
build.node_from_schedule(Set("{ [i] }"))  # error
AstBuild.from_contekst(Set("{ [i] }"))  # error
