"""Trains the small networks of tests/app/accuracy_test.py on the digits of scikit-learn and stores them beside this file.

train.py [NAME…]      needs scikit-learn and PyTorch; with names only these networks, the others stay as they are

  digits.npz     images (0 to 16, as they are) and labels: `calibration` 120 images of the training part, `X` and `y` the 360 of the
                 test part, which no network has seen
  networks.npz   weights in half precision; NAME/LAYER/weight and NAME/LAYER/bias. Batch normalisation is folded into them

What the networks look like is in tests/app/digits_models.py, which writes them as ONNX. Their input is (x - OFFSET) / 16.
"""

import argparse
import pathlib

import numpy
import torch
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch import nn

HERE = pathlib.Path(__file__).parent
OFFSETS = {"cnn": 0, "centred": 10, "below": 16, "depthwise": 0, "residual": 0, "transformer": 0}


def convolution(inner, outer, kernel=3, groups=1, stride=1):
    return nn.Sequential(nn.Conv2d(inner, outer, kernel, padding=kernel // 2, groups=groups, stride=stride, bias=False),
                         nn.BatchNorm2d(outer))


class Plain(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1, self.conv2, self.fc = convolution(1, 8), convolution(8, 16), nn.Linear(64, 10)

    def forward(self, x):
        x = nn.functional.max_pool2d(torch.relu(self.conv1(x)), 2)
        x = nn.functional.max_pool2d(torch.relu(self.conv2(x)), 2)
        return self.fc(x.flatten(1))


class Depthwise(nn.Module):
    """Inverted residuals as in MobileNet-v2: expansion, depthwise, linear projection, and a sum around the second."""
    def __init__(self):
        super().__init__()
        self.conv1 = convolution(1, 8)
        self.expand1, self.depth1, self.project1 = convolution(8, 24, 1), convolution(24, 24, 3, 24, 2), convolution(24, 12, 1)
        self.expand2, self.depth2, self.project2 = convolution(12, 36, 1), convolution(36, 36, 3, 36), convolution(36, 12, 1)
        self.last, self.fc = convolution(12, 32, 1), nn.Linear(32, 10)

    def forward(self, x):
        six = nn.functional.relu6
        x = six(self.conv1(x))
        x = self.project1(six(self.depth1(six(self.expand1(x)))))
        x = x + self.project2(six(self.depth2(six(self.expand2(x)))))
        return self.fc(six(self.last(x)).mean((2, 3)))


class Residual(nn.Module):
    """A basic block, one with a projection, and a sum that no layer can take over, because both its sides are activated."""
    def __init__(self):
        super().__init__()
        self.conv1 = convolution(1, 8)
        self.a1, self.a2 = convolution(8, 8), convolution(8, 8)
        self.b1, self.b2, self.skip = convolution(8, 16, stride=2), convolution(16, 16), convolution(8, 16, 1, stride=2)
        self.c1, self.fc = convolution(16, 16), nn.Linear(16, 10)

    def forward(self, x):
        x = torch.relu(self.conv1(x))
        x = torch.relu(x + self.a2(torch.relu(self.a1(x))))
        x = torch.relu(self.skip(x) + self.b2(torch.relu(self.b1(x))))
        x = x + torch.relu(self.c1(x))
        return self.fc(x.mean((2, 3)))


class Block(nn.Module):
    """Attention of three heads, and two layers with GELU between them, each behind a normalisation and beside a sum."""
    def __init__(self, size=24, heads=3):
        super().__init__()
        self.heads, self.norm1, self.norm2 = heads, nn.LayerNorm(size), nn.LayerNorm(size)
        self.qkv, self.proj = nn.Linear(size, 3 * size), nn.Linear(size, size)
        self.up, self.down = nn.Linear(size, 2 * size), nn.Linear(2 * size, size)

    def forward(self, x):
        batch, tokens, size = x.shape
        q, k, v = self.qkv(self.norm1(x)).reshape(batch, tokens, 3, self.heads, size // self.heads).permute(2, 0, 3, 1, 4)
        scores = (q @ k.transpose(-2, -1) * (size // self.heads) ** -0.5).softmax(-1)
        x = x + self.proj((scores @ v).transpose(1, 2).reshape(batch, tokens, size))
        return x + self.down(nn.functional.gelu(self.up(self.norm2(x))))


class Transformer(nn.Module):
    """A vision transformer: 16 tokens, one for every 2x2 pixels."""
    def __init__(self):
        super().__init__()
        self.embed, self.place = nn.Conv2d(1, 24, 2, 2), nn.Parameter(torch.randn(1, 16, 24) / 10)
        self.block0, self.block1, self.norm, self.fc = Block(), Block(), nn.LayerNorm(24), nn.Linear(24, 10)

    def forward(self, x):
        x = self.block1(self.block0(self.embed(x).flatten(2).transpose(1, 2) + self.place))
        return self.fc(self.norm(x).mean(1))


KINDS = {"cnn": Plain, "centred": Plain, "below": Plain, "depthwise": Depthwise, "residual": Residual, "transformer": Transformer}


def trained(name, x, y, seed):
    torch.manual_seed(seed)
    model = KINDS[name]()
    epochs, batch = 120 if name == "transformer" else 60, 64
    optimiser = torch.optim.Adam(model.parameters(), lr=3e-3)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, 5e-3 if name == "transformer" else 1e-2, total_steps=epochs * (len(x) // batch))
    for _ in range(epochs):
        order = torch.randperm(len(x))
        for first in range(0, len(x) // batch * batch, batch):
            at = order[first:first + batch]
            optimiser.zero_grad()
            nn.functional.cross_entropy(model(x[at]), y[at]).backward()
            optimiser.step()
            schedule.step()
    return model.eval()


def folded(model):
    if isinstance(model, Transformer):
        weights = {name.replace(".", "/"): value for name, value in model.state_dict().items()}
        return {name if "/" in name else name + "/weight": value for name, value in weights.items()}
    weights = {}
    for name, layer in model.named_children():
        if isinstance(layer, nn.Linear):
            weights[f"{name}/weight"], weights[f"{name}/bias"] = layer.weight, layer.bias
        else:
            conv, norm = layer
            factor = norm.weight / torch.sqrt(norm.running_var + norm.eps)
            weights[f"{name}/weight"] = conv.weight * factor[:, None, None, None]
            weights[f"{name}/bias"] = norm.bias - norm.running_mean * factor
    return weights


def split():
    images, labels = load_digits(return_X_y=True)
    return train_test_split(images.reshape(-1, 1, 8, 8), labels, test_size=360, random_state=0, stratify=labels)


def main(only):
    torch.set_num_threads(1)
    x, held, y, expected = split()
    networks = dict(numpy.load(HERE / "networks.npz")) if only else {}
    for name in only or KINDS:
        tensor = torch.tensor((x - OFFSETS[name]) / 16, dtype=torch.float32)
        model = trained(name, tensor, torch.tensor(y), seed=1)
        with torch.no_grad():
            scores = model(torch.tensor((held - OFFSETS[name]) / 16, dtype=torch.float32))
            networks.update({f"{name}/{part}": value.numpy().astype(numpy.float16) for part, value in folded(model).items()})
        print(f"{name}: {(scores.argmax(1).numpy() == expected).mean():.4f}")
    numpy.savez_compressed(HERE / "networks.npz", **networks)
    numpy.savez_compressed(HERE / "digits.npz", calibration=x[:120].astype(numpy.uint8), X=held.astype(numpy.uint8),
                           y=expected.astype(numpy.int64))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="networks; without any, all")
    main(parser.parse_args().names)
