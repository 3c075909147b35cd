"""The sequence that scripts/trust.d/shim.c records, and the answers in it."""

import collections
import os
import pathlib
import re
import shutil
import struct
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
KINDS = "NONE CREATE WRITE ZERO TRUNCATE SYNC_BEGIN SYNC_END RENAME LINK UNLINK ACCEPT SEND SENT FAULT".split()
(_, CREATE, WRITE, ZERO, TRUNCATE, SYNC_BEGIN, SYNC_END, RENAME, LINK, UNLINK, ACCEPT, SEND, SENT, FAULT) = range(14)
HEAD = struct.Struct("<IIIIqq")
EVENT = re.compile(rb"^data: (.*)$", re.M)  # of an event stream

Record = collections.namedtuple("Record", "kind process flag file place bytes")


def build_shim(directory):
    """Compiles the shim into a directory, and returns its path."""
    shim = pathlib.Path(directory) / "shim.so"
    compiler = os.environ.get("CC") or shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if not compiler:
        raise SystemExit("no C compiler; run scripts/install --test, or set CC")
    source = ROOT / "scripts/trust.d/shim.c"
    subprocess.run([compiler, "-O2", "-Wall", "-Wextra", "-shared", "-fPIC", "-o", shim, source, "-ldl"], check=True)
    return shim


def environment(shim, directory, trace=None, fail=None, mutation=None):
    """The environment in which a program's work in a directory is recorded."""
    added = {"LD_PRELOAD": str(shim), "TRUST_DIRECTORY": os.path.realpath(directory)}
    if trace:
        added["TRUST_TRACE"] = str(trace)
    if fail:
        added["TRUST_FAIL"] = fail
    if mutation:
        added["TRUST_MUTATE"] = mutation
    return dict(os.environ) | added


def read(path):
    """The records of a trace. One that was cut off by the end of its process is left out."""
    content = memoryview(pathlib.Path(path).read_bytes() if os.path.exists(path) else b"")
    records, place = [], 0
    while place + HEAD.size <= len(content):
        length, kind, process, flag, file, offset = HEAD.unpack_from(content, place)
        place += HEAD.size
        if place + length > len(content):
            break
        records.append(Record(kind, process, flag, file, offset, content[place:place + length]))
        place += length
    return records


class Stream:
    """The bytes that a server sent on one connection, with the position of each in the sequence."""

    def __init__(self):
        self.content = bytearray()
        self.parts = []  # (offset of the part, position)

    def add(self, position, content):
        self.parts.append((len(self.content), position))
        self.content += content

    def position(self, offset):
        """The position of the record with the byte at an offset."""
        return max(position for start, position in self.parts if start <= offset)

    def answers(self):
        """The position, status, header and body of each whole answer, in order."""
        offset = 0
        while (end := self.content.find(b"\r\n\r\n", offset)) >= 0:
            head = self.content[offset:end].decode("latin-1")
            status = int(head.split(" ", 2)[1])
            length = re.search(r"(?im)^content-length: *(\d+)", head)
            size = int(length[1]) if length else 0
            body = bytes(self.content[end + 4:end + 4 + size])
            if len(body) < size:
                return
            yield self.position(offset), status, head, body
            offset = end + 4 + size

    def events(self):
        """The position and data of each event of an event stream."""
        for match in EVENT.finditer(self.content):
            yield self.position(match.start()), match[1].rstrip(b"\r")


def streams(records):
    """The streams of all connections, by the server's process with the client's port, and in the order of their beginning.
    Clients of another server may get the same port."""
    found, current, sending = collections.defaultdict(list), {}, {}
    for position, record in enumerate(records):
        key = record.process, record.file
        if record.kind == ACCEPT:
            current[key] = Stream()
            found[record.process, record.place].append(current[key])
        elif record.kind == SEND:
            sending[key] = position, record.bytes
        elif record.kind == SENT and key in sending:
            position, content = sending.pop(key)
            if record.place > 0 and key in current:
                current[key].add(position, content[:record.place])
    return found


def answer_early(records, is_early):
    """The sequence of a server that answers before it syncs: what it sends on a connection, as `streams` names it, comes before
    the sync that it waited for, if `is_early` is true for the connection."""
    changed, held, names = [], None, {}
    for record in records:
        if record.kind == ACCEPT:
            names[record.process, record.file] = record.process, record.place
        if record.kind == SYNC_BEGIN:
            held = len(changed)
        if record.kind in (SEND, SENT) and held is not None and is_early(names.get((record.process, record.file))):
            changed.insert(held, record)
            held += 1
        else:
            changed.append(record)
    return changed
