#!/usr/bin/env python3
"""Encrypt v7 IDs as public IDs, and decrypt public IDs, in an application.

The results are equal to those of uuidv7_encrypt() and uuidv7_decrypt() with the same key, so an
application can use this module with any PostgreSQL server.  The page doc/public-ids.md describes the
encryption and the file with the keys.

    from public_ids import PublicIds

    orders = PublicIds.load("/etc/shop/keys", "shop", "orders")
    public_id = orders.encrypt(row_id)                     # uuid.UUID to uuid.UUID
    row_id = orders.decrypt(uuid.UUID(text_of_client))     # ValueError means: no such row

The application decides who sees what, so each look-up must check that the row belongs to the user.

This requires the package cryptography (Debian: python3-cryptography).  As a program, it reads one ID a
line:

    ./public_ids.py /etc/shop/keys shop orders encrypt <ids
"""
import re
import struct
import sys
import uuid

from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

ROUNDS = range(10)
HALF = 2**61 - 1  # the 61 bits of half a payload


def payload(id, version):
    """Return the 122 bits of a UUID without its version and variant."""
    if id.version != version:
        raise ValueError(f"not a UUID of version {version}: {id}")
    return id.int >> 80 << 74 | (id.int >> 64 & 0xFFF) << 62 | id.int & 2**62 - 1


def with_payload(bits, version):
    """Return the UUID of a version with the 122 bits."""
    return uuid.UUID(int=bits >> 74 << 80 | version << 76 | (bits >> 62 & 0xFFF) << 64 | 2 << 62 | bits & 2**62 - 1)


class PublicIds:
    def __init__(self, key):
        """Take a key of 32 bytes."""
        if len(key) != 32:
            raise ValueError("the key must have 32 bytes")
        self.aes = Cipher(algorithms.AES(key), modes.ECB())

    @classmethod
    def load(cls, file, database, name):
        """Load a key from a file with lines of the form "database name = digits"."""
        keys = {}
        with open(file, encoding="utf-8", newline="\n") as lines:
            for number, line in enumerate(lines, 1):
                if line == "\n" or line.startswith("#"):
                    continue
                match = re.fullmatch(r"(.+) (\S+) = ([0-9A-Fa-f]{64})\n", line)
                if not match or match.group(1, 2) in keys:
                    raise ValueError(f"{file}, line {number}: malformed line or repeated key")
                keys[match.group(1, 2)] = bytes.fromhex(match[3])
        return cls(keys[database, name])

    def encrypt(self, id):
        aes = self.aes.encryptor()
        left, right = payload(id, 7) >> 61, payload(id, 7) & HALF
        for number in ROUNDS:
            left, right = right, left ^ self.round(aes, number, right)
        return with_payload(left << 61 | right, 4)

    def decrypt(self, public_id):
        aes = self.aes.encryptor()
        left, right = payload(public_id, 4) >> 61, payload(public_id, 4) & HALF
        for number in reversed(ROUNDS):
            left, right = right ^ self.round(aes, number, left), left
        return with_payload(left << 61 | right, 7)

    @staticmethod
    def round(aes, number, half):
        return struct.unpack(">Q", aes.update(struct.pack(">QQ", number, half))[:8])[0] & HALF


if __name__ == "__main__":
    if len(sys.argv) != 5 or sys.argv[4] not in ("encrypt", "decrypt"):
        sys.exit("usage: public_ids.py KEY_FILE DATABASE KEY encrypt|decrypt <IDS")
    convert = getattr(PublicIds.load(*sys.argv[1:4]), sys.argv[4])
    for line in sys.stdin:
        print(convert(uuid.UUID(line.strip())))
