#!/usr/bin/env python3
"""The log-mel spectrum of a made signal, computed in numpy's float64 from the
model's description, without any of the code beside it.

  logmel.py     writes logmel.json beside this file

The signal has 40 s at 16 kHz, so that the second chunk is padded: three gliding
tones with a syllable's envelope, and noise from a linear congruential generator.
"""
import json
import os

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
EXPECTED = [float(v) for v in """
0.34912264 0.58558977 0.7912451  0.92767584 0.98273695 0.98439455 0.9603633  0.93906444 0.9366281  0.93200225
0.916437   0.8928787  0.8637211  0.83265126 0.79977655 0.7778334  0.7561299  0.72997606 0.70391226 0.6800474
0.65755    0.63536274 0.61355984 0.5923383  0.5720056  0.55244887 0.53684795 0.5221597  0.5098636  0.49923953
0.48908615 0.47840047 0.46758702 0.47343993 0.46268672 0.4475126  0.46747103 0.45131385 0.4635319  0.44889897
0.45491976 0.4373785  0.43154317 0.42194438 0.41158468 0.40096927 0.3933149  0.38795966 0.38441542 0.38454026
0.3815766  0.3768835  0.3719921  0.3654539  0.35399568 0.3425986  0.32823247 0.31404305 0.30564603 0.29617435
0.29273877 0.28560263 0.27459458 0.26876706 0.25825337 0.24759005 0.24090728 0.2344712  0.22529823 0.20880115
0.193578   0.18290243 0.17621627 0.17087021 0.16641389 0.15932252 0.14312662 0.11790597 0.08030523 0.03747071
""".split()]


def signal():
    n = 40 * 16000
    t = np.arange(n) / 16000
    x = 0.05 + 0.3 * np.sin(np.pi * 4 * t) ** 2 * (np.sin(2 * np.pi * (150 * t + 10 * np.sin(t)))
                                                   + 0.5 * np.sin(2 * np.pi * (1200 * t + 40 * np.sin(t)))
                                                   + 0.2 * np.sin(2 * np.pi * (3300 * t + 90 * np.sin(t))))
    state, noise = 1, np.empty(n)
    for i in range(n):
        state = (state * 1664525 + 1013904223) & 0xFFFFFFFF
        noise[i] = state / 2**31 - 1
    return x + 0.001 * noise


def hz_to_mel(f):
    return np.where(f < 1000, 3 * f / 200, 15 + 27 * np.log(np.maximum(f, 1) / 1000) / np.log(6.4))


def mel_to_hz(m):
    return np.where(m < 15, 200 * m / 3, 1000 * np.exp(np.log(6.4) * (m - 15) / 27))


def filters():
    edges = mel_to_hz(np.linspace(0, hz_to_mel(np.array(8000.0)), 82))
    f = np.linspace(0, 8000, 201)
    up = (f[:, None] - edges[None, :-2]) / (edges[1:-1] - edges[:-2])
    down = (edges[None, 2:] - f[:, None]) / (edges[2:] - edges[1:-1])
    return np.maximum(0, np.minimum(up, down)) * 2 / (edges[2:] - edges[:-2])


def logmel(chunk):
    x = (chunk - chunk.mean()) / np.sqrt(chunk.var() + 1e-7)
    x = np.pad(x, 200, mode='reflect')
    window = 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(400) / 400)
    frames = np.lib.stride_tricks.sliding_window_view(x, 400)[::160][:-1]
    power = np.abs(np.fft.rfft(frames * window, axis=1)) ** 2
    v = np.log10(np.maximum(power @ filters(), 1e-10)).T
    v = (np.maximum(v, v.max() - 8) + 4) / 4
    return v + (np.array(EXPECTED) - v.mean(axis=1))[:, None]


x = signal()
x = x - x.mean()
x = x / np.abs(x).max()
x = np.concatenate([x, np.zeros(-len(x) % 480000)])
result = {'numpy': np.__version__, 'frames': list(range(0, 3000, 97)), 'chunks': []}
for chunk in x.reshape(-1, 480000):
    m = logmel(chunk)
    assert m.shape == (80, 3000)
    result['chunks'].append([[float(f'{v:.7g}') for v in m[:, t]] for t in result['frames']])
with open(os.path.join(HERE, 'logmel.json'), 'w') as f:
    json.dump(result, f, separators=(',', ':'))
    f.write('\n')
