#!/usr/bin/python3
"""Draws weights from a seed and runs networks of wav2vec 2.0 on them in PyTorch.

Written from the papers and from the description of the published models; it shares
nothing with the Go code. "make.py small" writes small.json; "make.py full" writes
full.json, of the published sizes.
"""
import json
import math
import sys

import numpy as np
import torch
import torch.nn.functional as F

SAMPLES = 1500
MASK = (1 << 64) - 1

base = dict(channels=20, kernels=[10, 3, 3, 2], strides=[5, 2, 2, 2], layer_norm=False, conv_bias=False, width=24,
            heads=3, inner=40, layers=3, taps=8, groups=4, norm_first=False, weighted=False, projection=0, classes=2, eps=1e-5)
large = dict(base, layer_norm=True, conv_bias=True, norm_first=True)
SMALL = {
    "small": base,
    "large": large,
    "weighted": dict(base, weighted=True, projection=10, classes=3, taps=7),
    "mixed": dict(large, weighted=True, projection=7, eps=0, conv_bias=False),
}
published = dict(base, channels=512, kernels=[10, 3, 3, 3, 3, 2, 2], strides=[5, 2, 2, 2, 2, 2, 2], width=768, heads=12,
                 inner=3072, layers=12, taps=128, groups=16)
FULL = {
    "w2v_small": published,
    "mms_300m": dict(published, layer_norm=True, conv_bias=True, norm_first=True, width=1024, heads=16, inner=4096, layers=24),
}


def uniform(n, key):
    state = 0xCBF29CE484222325
    for c in key.encode():
        state = ((state ^ c) * 0x100000001B3) & MASK
    with np.errstate(over="ignore"):
        z = np.uint64(state) + np.arange(1, n + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        z = z ^ (z >> np.uint64(31))
    return (z >> np.uint64(40)).astype(np.float32) / np.float32(1 << 23) - np.float32(1)


def draw(key, *dims):
    x = uniform(math.prod(dims), key)
    factor, offset = 0.125, 0.0
    if key.endswith("weight_g"):
        factor, offset = 0.25, 1.0
    elif key == "layer_weights":
        factor = 1.0
    elif len(dims) == 1 and key.endswith(".weight"):
        factor, offset = 0.25, 1.0
    elif len(dims) > 1:
        factor = 1.5 * 2.0 ** math.floor(0.5 * math.log2(3 / math.prod(dims[1:])))
    return torch.from_numpy((np.float32(offset) + x * np.float32(factor)).reshape(dims))


def linear(x, name, outputs):
    return F.linear(x, draw(name + ".weight", outputs, x.shape[-1]), draw(name + ".bias", outputs))


def layer_norm(x, name):
    n = x.shape[-1]
    return F.layer_norm(x, (n,), draw(name + ".weight", n), draw(name + ".bias", n), 1e-5)


def extract(x, s):
    if s["eps"]:
        x = (x - x.mean()) / torch.sqrt(x.var(unbiased=False) + s["eps"])
    x = x.reshape(1, 1, -1)
    for i, (k, stride) in enumerate(zip(s["kernels"], s["strides"])):
        at = f"feature_extractor.conv_layers.{i}."
        bias = draw(at + "0.bias", s["channels"]) if s["conv_bias"] else None
        x = F.conv1d(x, draw(at + "0.weight", s["channels"], x.shape[1], k), bias, stride)
        if s["layer_norm"]:
            x = layer_norm(x.transpose(1, 2), at + "2.1").transpose(1, 2)
        elif i == 0:
            c = s["channels"]
            x = F.group_norm(x, c, draw(at + "2.weight", c), draw(at + "2.bias", c), 1e-5)
        x = F.gelu(x)
    return x[0].T


def positions(x, s):
    g, v = draw("encoder.pos_conv.0.weight_g", 1, 1, s["taps"]), draw("encoder.pos_conv.0.weight_v", s["width"], s["width"] // s["groups"], s["taps"])
    weight = torch._weight_norm(v, g, 2)
    y = F.conv1d(x.T[None], weight, draw("encoder.pos_conv.0.bias", s["width"]), padding=s["taps"] // 2, groups=s["groups"])
    if s["taps"] % 2 == 0:
        y = y[:, :, :-1]
    return F.gelu(y)[0].T


def attention(x, at, s):
    split = lambda y: y.reshape(len(x), s["heads"], -1).transpose(0, 1)
    q, k, v = (split(linear(x, f"{at}.{p}_proj", s["width"])) for p in "qkv")
    scores = torch.softmax(q @ k.transpose(1, 2) / math.sqrt(q.shape[-1]), -1)
    return linear((scores @ v).transpose(0, 1).reshape(len(x), -1), at + ".out_proj", s["width"])


def hidden(features, s):
    x = linear(layer_norm(features, "layer_norm"), "post_extract_proj", s["width"])
    x = x + positions(x, s)
    if not s["norm_first"]:
        x = layer_norm(x, "encoder.layer_norm")
    states = [x]
    for i in range(s["layers"]):
        at = f"encoder.layers.{i}."
        inner = lambda y: linear(F.gelu(linear(y, at + "fc1", s["inner"])), at + "fc2", s["width"])
        if s["norm_first"]:
            x = x + attention(layer_norm(x, at + "self_attn_layer_norm"), at + "self_attn", s)
            x = x + inner(layer_norm(x, at + "final_layer_norm"))
        else:
            x = layer_norm(x + attention(x, at + "self_attn", s), at + "self_attn_layer_norm")
            x = layer_norm(x + inner(x), at + "final_layer_norm")
        states.append(x)
    if s["norm_first"]:
        states[-1] = layer_norm(x, "encoder.layer_norm")
    return states


def logits(states, s):
    x = states[-1]
    if s["weighted"]:
        x = (torch.stack(states) * torch.softmax(draw("layer_weights", len(states)), 0)[:, None, None]).sum(0)
    if s["projection"]:
        x = linear(x, "projector", s["projection"])
    return linear(x.mean(0), "classifier", s["classes"])


def numbers(x):
    return [float("%.9g" % v) for v in x.flatten().tolist()]


def samples(n):
    return torch.from_numpy(np.float32(0.25) * uniform(n, "samples") + np.float32(0.03))


def main():
    torch.set_grad_enabled(False)
    out = {}
    if sys.argv[1] == "small":
        for name, s in SMALL.items():
            features = extract(samples(SAMPLES), s)
            states = hidden(features, s)
            out[name] = {"features": numbers(features), "hidden": [numbers(x) for x in states], "logits": numbers(logits(states, s))}
    else:
        for name, s in FULL.items():
            features = extract(samples(32000), s)
            states = hidden(features, s)
            part = lambda x: {"part": numbers(x[::9, ::16]), "largest": float(x.abs().max())}
            out[name] = {"features": part(features), "hidden": {i: part(states[i]) for i in [0, 1, 10, 12, 20, 24] if i < len(states)},
                         "logits": numbers(logits(states, s))}
    with open(sys.argv[1] + ".json", "w") as f:
        json.dump(out, f, separators=(",", ":"))
        f.write("\n")


if __name__ == "__main__":
    main()
