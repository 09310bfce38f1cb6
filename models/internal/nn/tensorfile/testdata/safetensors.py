#!/usr/bin/python3
"""Writes small.safetensors, from the description of the format alone."""
import json
import struct

import torch

tensors = {
    "single": ("F32", torch.tensor([[0.1, -2, 3.5], [1e-30, 65504, -0.0]])),
    "half": ("F16", torch.tensor([0.1, -2, 6.1e-5]).half()),
    "brain.weight": ("BF16", torch.tensor([[[0.1, -2], [1e-30, 1e38]]]).bfloat16()),
    "scalar": ("F32", torch.tensor(7.0)),
    "none": ("F32", torch.zeros(0, 4)),
    "positions": ("I64", torch.arange(2)),
}
header, data = {"__metadata__": {"format": "pt"}}, b""
for name, (dtype, t) in tensors.items():
    if t.dtype == torch.bfloat16:  # the upper halves of its float32
        raw = b"".join(struct.pack("<f", v)[2:] for v in t.float().flatten().tolist())
    else:
        raw = t.numpy().tobytes()
    header[name] = {"dtype": dtype, "shape": list(t.shape), "data_offsets": [len(data), len(data) + len(raw)]}
    data += raw
text = json.dumps(header).encode()
text += b" " * (-len(text) % 8)
with open("small.safetensors", "wb") as f:
    f.write(struct.pack("<Q", len(text)) + text + data)
print({k: t.float().flatten().tolist() for k, (_, t) in tensors.items()})
