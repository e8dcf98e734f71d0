"""What an optimisation does to a model, in Markdown, for a comment in a pull request."""

import sys

import tangram

before, after = sys.argv[1:]
better = tangram.optimize(before, check=True)
better.save(after)
report, changes = better.report, tangram.diff(before, after).data
print(f"### `{before.rsplit('/', 1)[-1]}`: {report.nodes_before} → {report.nodes_after} nodes\n")
print("| operator | before | after |\n| --- | --- | --- |")
for name, count in report.data["operators"].items():
    if count["before"] != count["after"]:
        print(f"| {name} | {count['before']} | {count['after']} |")
print(f"\n{report.check['text']}\n")
print(f"<details><summary>{len(changes['removed'])} nodes removed, {len(changes['added'])} added, ", end="")
print(f"{len(changes['changed'])} changed</summary>\n")
for rule, times in report.fired.items():
    print(f"- `{rule}` fired {times} times")
print("\n</details>")
