#!/bin/sh
# A model for a device that wants to know every size. It was:
#
#     onnxsim model.onnx fixed.onnx --overwrite-input-shape image:1,3,32,32
#
# `--dim batch=1` alone would leave the other sizes open.
set -eu
model=$1
fixed=$2
tangram opt "$model" -o "$fixed" --input-shape image:1,3,32,32 --check
tangram show "$fixed"
