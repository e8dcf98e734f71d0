"""A rule set in a repository: verified first, then applied beside the rules that are shipped.

A pull request that changes a rule runs this; a rule that is wrong ends it with its counterexample.
"""

import pathlib
import sys

import tangram

model, out = sys.argv[1:]
rules = pathlib.Path(__file__).parent / "rules"
verdicts = list(tangram.check_rules(rules, jobs=2))
for verdict in verdicts:
    print(f"{verdict.name}: {verdict.text}")
if not all(verdict.holds for verdict in verdicts):
    sys.exit(1)
better = tangram.optimize(model, rules, check=True)
better.save(out)
for verdict in verdicts:
    print(f"{verdict.name} fired {better.report.fired.get(verdict.name, 0)} times")
