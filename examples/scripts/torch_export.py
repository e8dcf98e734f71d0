"""A PyTorch module as an optimised ONNX model.

`torch.onnx.export` with `dynamo=True` returns a program in memory: nothing has to be written before
it is optimised.
"""

import sys

import torch

import tangram


class Net(torch.nn.Module):
    """A small classifier, where yours would be."""

    def __init__(self) -> None:
        super().__init__()
        self.features = torch.nn.Sequential(
            torch.nn.Conv2d(3, 8, 3, padding=1), torch.nn.BatchNorm2d(8), torch.nn.ReLU()
        )
        self.head = torch.nn.Linear(8, 10)

    def forward(self, image: torch.Tensor) -> torch.Tensor:
        return self.head(self.features(image).mean(dim=(2, 3)))


net = Net().eval()
image = torch.randn(2, 3, 16, 16)
program = torch.onnx.export(
    net, (image,), dynamo=True, input_names=["image"], output_names=["scores"],
    dynamic_shapes={"image": {0: torch.export.Dim("batch", min=1, max=64)}},
)
better = tangram.optimize(program, check=True)
better.save(sys.argv[1])
print(better.report)
