#!/usr/bin/env python3
"""Seeded weights of DAM's names, and what PyTorch computes with them.

  make.py small            writes small*.ckpt and small.json beside this file
  make.py narrow           writes narrow.ckpt beside this file
  make.py full             writes full.json beside this file
  make.py checkpoint PATH  writes the checkpoint of full.json, 0.74 GB
  make.py time [N]         times PyTorch on N threads (1) over a full-shape chunk

Every number of a tensor is drawn from the seed, the tensor's key and the
number's index, so that another program can draw the same ones.
"""
import json
import os
import sys
import time

import numpy as np
import torch
import torch.nn.functional as F

HERE = os.path.dirname(os.path.abspath(__file__))
SEED = 20250131
RANK, ALPHA = 32, 64  # of the low-rank adapters

PUBLISHED = dict(mels=80, frames=1500, width=768, heads=12, inner=3072, layers=12,
                 hidden=256, shared=64, task=128)
SMALL = dict(mels=8, frames=21, width=24, heads=3, inner=40, layers=2,
             hidden=20, shared=12, task=10)
NARROW = dict(mels=80, frames=1500, width=8, heads=2, inner=8, layers=2,
              hidden=4, shared=4, task=4)


def uniform(key, count):
    """count numbers in [-1, 1), multiples of 2^-23: the top 24 bits of
    SplitMix64's outputs (Steele, Lea, Flood 2014) from a state that is SEED
    plus the FNV-1a hash of the key."""
    h = 0xCBF29CE484222325
    for b in key.encode():
        h = ((h ^ b) * 0x100000001B3) & 0xFFFFFFFFFFFFFFFF
    out = np.empty(count, np.float32)
    step = 1 << 20
    for at in range(0, count, step):
        n = min(step, count - at)
        z = np.arange(at + 1, at + n + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
        z += np.uint64((h + SEED) & 0xFFFFFFFFFFFFFFFF)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        z ^= z >> np.uint64(31)
        out[at:at + n] = (z >> np.uint64(40)).astype(np.float64) / 2**23 - 1
    return out


def draw(key, dims):
    """A tensor whose scale keeps activations of the order of one."""
    u = torch.from_numpy(uniform(key, int(np.prod(dims)))).reshape(dims)
    if 'lora_' in key:
        return u * 0.0625
    if 'layer_norm.weight' in key:
        return 1 + u * 0.25
    if len(dims) == 1:
        return u * 0.125
    if 'embed_positions' in key:
        return u * 0.5
    # A power of two not above sqrt(3 / inputs), times 1.5: exact in float32.
    return u * float(1.5 * 2.0 ** np.floor(0.5 * np.log2(3 / np.prod(dims[1:]))))


def is_adapted(layer, name):
    """In the checkpoint made here every linear layer of the first layer is
    adapted, and the query and value projections of the others."""
    return layer == 0 or name.endswith(('q_proj', 'v_proj'))


def keys(s):
    """The keys of the checkpoint and their dimensions."""
    out = {}
    for encoder in ('llma', 'audio'):
        at = f'backbone.{encoder}.backbone.'
        adapted = encoder == 'audio'
        if adapted:
            at += 'base_model.model.'
        for conv, width in (('conv1', s['mels']), ('conv2', s['width'])):
            for kind in ('original_module.', 'modules_to_save.default.') if adapted else ('',):
                out[f'{at}{conv}.{kind}weight'] = (s['width'], width, 3)
                out[f'{at}{conv}.{kind}bias'] = (s['width'],)
        out[f'{at}embed_positions.weight'] = (s['frames'], s['width'])
        for i in range(s['layers']):
            for name, dout, din in (('self_attn.k_proj', s['width'], s['width']),
                                    ('self_attn.v_proj', s['width'], s['width']),
                                    ('self_attn.q_proj', s['width'], s['width']),
                                    ('self_attn.out_proj', s['width'], s['width']),
                                    ('fc1', s['inner'], s['width']),
                                    ('fc2', s['width'], s['inner'])):
                x = f'{at}layers.{i}.{name}.'
                base = 'base_layer.' if adapted and is_adapted(i, name) else ''
                out[x + base + 'weight'] = (dout, din)
                if name != 'self_attn.k_proj':
                    out[x + base + 'bias'] = (dout,)
                if base:
                    out[x + 'lora_A.default.weight'] = (RANK, din)
                    out[x + 'lora_B.default.weight'] = (dout, RANK)
            for name in ('self_attn_layer_norm', 'final_layer_norm'):
                out[f'{at}layers.{i}.{name}.weight'] = (s['width'],)
                out[f'{at}layers.{i}.{name}.bias'] = (s['width'],)
        out[at + 'layer_norm.weight'] = (s['width'],)
        out[at + 'layer_norm.bias'] = (s['width'],)
    at = 'head.shared_layers.shared_layers.'
    out[at + '0.weight'], out[at + '0.bias'] = (s['hidden'], 2 * s['width']), (s['hidden'],)
    out[at + '2.weight'], out[at + '2.bias'] = (s['shared'], s['hidden']), (s['shared'],)
    for task in ('depression', 'anxiety'):
        at = f'head.classifier_head.{task}.'
        out[at + 'linear.weight'], out[at + 'linear.bias'] = (s['task'], s['shared']), (s['task'],)
        out[at + 'final_layer.weight'] = (1, s['task'])
    return out


def make_checkpoint(s):
    return {key: draw(key, dims) for key, dims in keys(s).items()}


def fold(checkpoint):
    """The weights in use: float32, adapters added, saved modules in place."""
    out = {}
    for key, value in checkpoint.items():
        if '.original_module.' in key or '.lora_' in key:
            continue
        value = value.float()
        a, b = (key.replace('.base_layer.weight', f'.lora_{x}.default.weight') for x in 'AB')
        if a != key:
            value = value + (ALPHA / RANK) * (checkpoint[b].float() @ checkpoint[a].float())
        for part in ('base_model.model.', '.base_layer', '.modules_to_save.default'):
            key = key.replace(part, '')
        out[key] = value
    return out


def encode(w, s, at, mel, trace=None):
    """The encoder's output [frames, width] for mel [mels, 2*frames]."""
    def keep(name, x):
        if trace is not None:
            trace[name] = x.clone()

    x = F.gelu(F.conv1d(mel[None], w[at + 'conv1.weight'], w[at + 'conv1.bias'], padding=1))
    x = F.gelu(F.conv1d(x, w[at + 'conv2.weight'], w[at + 'conv2.bias'], stride=2, padding=1))
    x = x.permute(0, 2, 1) + w[at + 'embed_positions.weight']
    keep('embedded', x[0])
    n, width, heads = s['frames'], s['width'], s['heads']
    size = width // heads
    for i in range(s['layers']):
        p = f'{at}layers.{i}.'
        y = F.layer_norm(x, (width,), w[p + 'self_attn_layer_norm.weight'], w[p + 'self_attn_layer_norm.bias'], 1e-5)
        q = F.linear(y, w[p + 'self_attn.q_proj.weight'], w[p + 'self_attn.q_proj.bias']) * size ** -0.5
        k = F.linear(y, w[p + 'self_attn.k_proj.weight'])
        v = F.linear(y, w[p + 'self_attn.v_proj.weight'], w[p + 'self_attn.v_proj.bias'])
        q, k, v = (t.view(n, heads, size).transpose(0, 1) for t in (q, k, v))
        y = torch.bmm(torch.softmax(torch.bmm(q, k.transpose(1, 2)), dim=-1), v)
        y = y.transpose(0, 1).reshape(1, n, width)
        x = x + F.linear(y, w[p + 'self_attn.out_proj.weight'], w[p + 'self_attn.out_proj.bias'])
        y = F.layer_norm(x, (width,), w[p + 'final_layer_norm.weight'], w[p + 'final_layer_norm.bias'], 1e-5)
        y = F.gelu(F.linear(y, w[p + 'fc1.weight'], w[p + 'fc1.bias']))
        x = x + F.linear(y, w[p + 'fc2.weight'], w[p + 'fc2.bias'])
        keep(f'layer{i}', x[0])
    x = F.layer_norm(x, (width,), w[at + 'layer_norm.weight'], w[at + 'layer_norm.bias'], 1e-5)[0]
    keep('output', x)
    return x


def embed(w, s, mel, traces=None):
    """The means of both encoders over one chunk."""
    means = []
    for encoder in ('audio', 'llma'):
        trace = None if traces is None else traces.setdefault(encoder, {})
        means.append(encode(w, s, f'backbone.{encoder}.backbone.', mel, trace).mean(0))
    return torch.cat(means)


def score(w, x):
    at = 'head.shared_layers.shared_layers.'
    x = F.mish(F.linear(x, w[at + '0.weight'], w[at + '0.bias']))
    x = F.linear(x, w[at + '2.weight'], w[at + '2.bias'])
    out = {}
    for task in ('depression', 'anxiety'):
        at = f'head.classifier_head.{task}.'
        y = F.mish(F.linear(x, w[at + 'linear.weight'], w[at + 'linear.bias']))
        out[task] = float(F.linear(y, w[at + 'final_layer.weight'])[0])
    return out


def make_mel(s, chunk):
    """A spectrum with events of 16 frames: not speech, but not noise either."""
    bands, frames = s['mels'], 2 * s['frames']
    slow = uniform(f'slow.{chunk}', bands * (frames // 16 + 1)).reshape(bands, -1)
    fast = uniform(f'fast.{chunk}', bands * frames).reshape(bands, frames)
    return torch.from_numpy(0.5 + 0.75 * np.repeat(slow, 16, axis=1)[:, :frames] + 0.25 * fast)


def numbers(x):
    """As decimal numbers that give the same float32 again."""
    return [float(f'{v:.9g}') for v in x.reshape(-1).tolist()]


def write_json(name, value):
    with open(os.path.join(HERE, name), 'w') as f:
        json.dump(value, f, separators=(',', ':'))
        f.write('\n')


def small():
    s = SMALL
    mels = [make_mel(s, i) for i in range(2)]
    result = {'torch': torch.__version__, 'shape': s, 'mel': [numbers(m) for m in mels], 'files': {}}
    base = make_checkpoint(s)
    variants = {
        'small.ckpt': base,
        'small-bare.ckpt': {k.replace('base_model.model.', ''): v for k, v in base.items()},
        'small-f16.ckpt': {k: v.to(torch.float16) for k, v in base.items()},
        'small-bf16.ckpt': {k: v.to(torch.bfloat16) for k, v in base.items()},
    }
    for name, checkpoint in variants.items():
        torch.save(checkpoint, os.path.join(HERE, name))
        w, traces = fold(checkpoint), {}
        means = [embed(w, s, m, traces if i == 0 else None) for i, m in enumerate(mels)]
        entry = {'embeddings': [numbers(m) for m in means], 'scores': score(w, (means[0] + means[1]) / 2)}
        if name == 'small.ckpt':
            entry['trace'] = {e: {k: numbers(v) for k, v in t.items()} for e, t in traces.items()}
            entry['folded'] = {k: numbers(w[k]) for k in w if k.endswith('audio.backbone.layers.1.self_attn.q_proj.weight')}
        result['files'][name] = entry
    write_json('small.json', result)


def full():
    s = PUBLISHED
    w, traces, mel = fold(make_checkpoint(s)), {}, make_mel(s, 0)
    mean = embed(w, s, mel, traces)
    rows = list(range(0, s['frames'], 125)) + [s['frames'] - 1]
    write_json('full.json', {
        'torch': torch.__version__, 'rows': rows, 'embedding': numbers(mean), 'scores': score(w, mean),
        'output': {e: [numbers(t['output'][r, ::16]) for r in rows] for e, t in traces.items()},
        'largest': {e: float(t['output'].abs().max()) for e, t in traces.items()},
    })


def measure(threads):
    torch.set_num_threads(threads)
    s = PUBLISHED
    w, mel = fold(make_checkpoint(s)), make_mel(s, 0)
    for _ in range(3):
        start, busy = time.perf_counter(), time.process_time()
        score(w, embed(w, s, mel))
        print(f'torch {torch.__version__}, {threads} thread(s): {time.perf_counter() - start:.2f} s per 30 s chunk, '
              f'{time.process_time() - busy:.2f} s of processor time', flush=True)


def main():
    with torch.no_grad():
        match sys.argv[1:]:
            case ['small']:
                small()
            case ['narrow']:
                torch.save(make_checkpoint(NARROW), os.path.join(HERE, 'narrow.ckpt'))
            case ['full']:
                full()
            case ['checkpoint', path]:
                torch.save(make_checkpoint(PUBLISHED), path)
            case ['time', *threads]:
                measure(int(threads[0]) if threads else 1)
            case _:
                sys.exit(__doc__)


main()
