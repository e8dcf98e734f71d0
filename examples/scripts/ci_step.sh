#!/bin/sh
# A step of continuous integration. It was:
#
#     onnxsim model.onnx smaller.onnx 3
#
# The command ends with 1 where results differ, so that the step fails.
set -eu
model=$1
smaller=$2
tangram opt "$model" -o "$smaller" --check --runs 3 --json report.json
