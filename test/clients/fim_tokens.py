"""Gives a model three tokens for the middle of a text, so that llama.cpp serves /infill with it: fim_tokens.py MODEL COPY

What the model then writes makes no sense, because it was not trained with them.
"""

import struct
import sys

data = open(sys.argv[1], "rb").read()
magic, version, tensors, pairs = struct.unpack_from("<4sIQQ", data)
SIZES = {0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8}
STRING, LIST, UINT32 = 8, 9, 4
ALIGNMENT = 32


def behind_text(at):
    return at + 8 + struct.unpack_from("<Q", data, at)[0]


def behind_value(kind, at):
    if kind == STRING:
        return behind_text(at)
    if kind != LIST:
        return at + SIZES[kind]
    kind, count = struct.unpack_from("<IQ", data, at)
    at += 12
    for _ in range(count):
        at = behind_value(kind, at)
    return at


at = 24
for _ in range(pairs):
    at = behind_text(at)
    at = behind_value(struct.unpack_from("<I", data, at)[0], at + 4)
pairs_end = at
for _ in range(tensors):
    at = behind_text(at)
    at += 4 + 8 * struct.unpack_from("<I", data, at)[0] + 12
added = b""
for name, token in {"fim_pre": 3, "fim_suf": 4, "fim_mid": 5}.items():
    key = f"tokenizer.ggml.{name}_token_id".encode()
    added += struct.pack("<Q", len(key)) + key + struct.pack("<II", UINT32, token)
head = struct.pack("<4sIQQ", magic, version, tensors, pairs + 3) + data[24:pairs_end] + added + data[pairs_end:at]
tensors_at = -(-at // ALIGNMENT) * ALIGNMENT
with open(sys.argv[2], "wb") as file:
    file.write(head + bytes(-len(head) % ALIGNMENT) + data[tensors_at:])
