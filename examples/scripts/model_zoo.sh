#!/bin/sh
# Every model of a folder, with a page of what came of each. A second run does what is new. It was:
#
#     for model in zoo/*.onnx; do onnxsim "$model" "better/$(basename "$model")"; done
set -eu
zoo=$1
better=$2
tangram opt "$zoo" -o "$better" --jobs 2 --check --table "$better/table.html" --table "$better/table.csv"
