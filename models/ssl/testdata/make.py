#!/usr/bin/python3
"""Computes what networks of seeded weights give in PyTorch: writes logits.json, and the
weights of two of them as files: tiny.ckpt by torch.save, and the directory detector.

The weights and the network are those of models/internal/nn/wav2vec/testdata/make.py,
which was written from the papers and shares nothing with the Go code. "make.py time
SIZE THREADS SECONDS" times PyTorch on a clip at a published size instead.
"""
import json
import os
import re
import struct
import sys
import time

import torch

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../../internal/nn/wav2vec/testdata"))
import make as network  # noqa: E402

SAMPLES = 40000

base = dict(network.base, channels=12, kernels=[10, 3, 3, 3, 3, 2, 2], strides=[5, 2, 2, 2, 2, 2, 2], layers=2)
large = dict(base, layer_norm=True, conv_bias=True, norm_first=True)
SHAPES = {
    "fairseq-group": base,
    "fairseq-layer": large,
    "wav2vec2": dict(base, weighted=True, projection=10, eps=1e-7),
    "hubert": dict(large, projection=7, classes=3, eps=0),
}

tiny = dict(base, channels=4, width=8, heads=2, inner=8, layers=1, taps=3, groups=2)
SHAPES["tiny.ckpt"] = tiny
SHAPES["detector"] = dict(tiny, layer_norm=True, conv_bias=True, norm_first=True, weighted=True, projection=3, eps=1e-7)


def run(x, s):
    return network.logits(network.hidden(network.extract(x, s), s), s)


def prepared(s, kept):
    """Keeps the weights, which are otherwise drawn at each use."""
    draw = network.draw

    def cached(key, *dims):
        if key not in kept:
            kept[key] = draw(key, *dims)
        return kept[key]
    network.draw = cached
    return s


def weights(s):
    """The weights that a network uses, by their names in fairseq."""
    kept, draw = {}, network.draw
    run(network.samples(16000), prepared(s, kept))
    network.draw = draw
    return kept


def write_checkpoint(s):
    out = {}
    for name, w in weights(s).items():
        out[name.replace("classifier.", "proj_fc.") if name.startswith("classifier.") else "m_ssl.model." + name] = w
    out["m_ssl.model.mask_emb"] = torch.zeros(s["width"])
    torch.save(out, os.path.join(HERE, "tiny.ckpt"))


def hugging_face(name):
    """The name of transformers for one of fairseq."""
    if re.match("classifier|projector|layer_weights", name):
        return name
    name = re.sub(r"(conv_layers\.\d+)\.0\.", r"\1.conv.", name)
    name = re.sub(r"(conv_layers\.\d+)\.2(\.1)?\.", r"\1.layer_norm.", name)
    name = re.sub(r"^layer_norm\.", "feature_projection.layer_norm.", name)
    for old, new in [("post_extract_proj.", "feature_projection.projection."), ("encoder.pos_conv.0.", "encoder.pos_conv_embed.conv."),
                     ("self_attn_layer_norm.", "layer_norm."), ("self_attn.", "attention."),
                     ("fc1.", "feed_forward.intermediate_dense."), ("fc2.", "feed_forward.output_dense.")]:
        name = name.replace(old, new)
    return "wav2vec2." + name


def write_directory(s):
    folder = os.path.join(HERE, "detector")
    os.makedirs(folder, exist_ok=True)
    header, data = {"__metadata__": {"format": "pt"}}, b""
    for name, w in weights(s).items():
        raw = w.contiguous().numpy().tobytes()
        header[hugging_face(name)] = {"dtype": "F32", "shape": list(w.shape), "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(os.path.join(folder, "model.safetensors"), "wb") as f:
        f.write(struct.pack("<Q", len(text)) + text + data)
    config = {
        "architectures": ["Wav2Vec2ForSequenceClassification"], "model_type": "wav2vec2",
        "conv_dim": [s["channels"]] * len(s["kernels"]), "conv_kernel": s["kernels"], "conv_stride": s["strides"], "conv_bias": True,
        "feat_extract_norm": "layer", "do_stable_layer_norm": True, "hidden_size": s["width"], "num_attention_heads": s["heads"],
        "num_hidden_layers": s["layers"], "intermediate_size": s["inner"], "num_conv_pos_embeddings": s["taps"],
        "num_conv_pos_embedding_groups": s["groups"], "use_weighted_layer_sum": True, "classifier_proj_size": s["projection"],
        "id2label": {"0": "bonafide", "1": "spoof"},
    }
    for name, value in [("config.json", config), ("preprocessor_config.json", {"do_normalize": True, "sampling_rate": 16000})]:
        with open(os.path.join(folder, name), "w") as f:
            json.dump(value, f, indent=1)
            f.write("\n")
    with open(os.path.join(folder, "README.md"), "w") as f:
        f.write("---\nlicense: mit\n---\nWeights drawn from a seed, for tests.\n")


def main():
    torch.set_grad_enabled(False)
    if sys.argv[1:2] == ["time"]:
        s = prepared(network.FULL[sys.argv[2]], {})
        torch.set_num_threads(int(sys.argv[3]))
        seconds = int(sys.argv[4])
        x = network.samples(16000 * seconds)
        run(x, s)
        for _ in range(3):
            begin = time.process_time(), time.perf_counter()
            run(x, s)
            cpu, wall = time.process_time() - begin[0], time.perf_counter() - begin[1]
            print(f"{cpu / seconds:.5f} s of CPU and {wall / seconds:.5f} s per second of audio")
        return
    write_checkpoint(SHAPES["tiny.ckpt"])
    write_directory(SHAPES["detector"])
    out = {name: network.numbers(run(network.samples(SAMPLES), s)) for name, s in SHAPES.items()}
    with open(os.path.join(HERE, "logits.json"), "w") as f:
        json.dump(out, f, indent=1)
        f.write("\n")


main()
