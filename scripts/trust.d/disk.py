"""A disk as a power cut leaves it: what was synced, and any part of the rest.

The model is stricter than Linux. A file's bytes and length are safe only after a sync of the file. The creation, renaming
and deletion of a name are safe only after a sync of its directory. Until then each of them may be there or not, without
regard to the others; a write may be there in part, torn at multiples of 512 or 4,096 bytes. A failed sync of a file drops what
was to be synced, and a later one succeeds without it, as on Linux.
"""

import os

import sequence

SECTORS = (512, 4096)
# How the unsynced part is chosen.
MODES = ("none", "all", "names", "data", "some", "torn", "one", "but-one", "beginning")


class Image:
    """The bytes of a file. Zeros at its end are not stored."""

    def __init__(self, content=b"", size=None):
        self.content = bytearray(content)
        self.size = len(content) if size is None else size

    def copy(self):
        return Image(self.content, self.size)

    def write(self, place, content):
        if place > len(self.content):
            self.content.extend(bytes(place - len(self.content)))
        self.content[place:place + len(content)] = content
        self.size = max(self.size, place + len(content))

    def truncate(self, size):
        del self.content[size:]
        self.size = size

    def zero(self, place, length):
        end = min(place + length, len(self.content))
        if place < end:
            self.content[place:end] = bytes(end - place)
        self.size = max(self.size, place + length)

    def bytes(self):
        return bytes(self.content) + bytes(self.size - len(self.content))

    def save(self, path):
        with open(path, "wb") as file:
            file.write(self.content)
            file.truncate(self.size)


class File:
    def __init__(self, image=None):
        self.durable = image or Image()
        self.pending = []  # (position, kind, place, bytes or length)


def apply(image, change):
    _, kind, place, what = change
    if kind == sequence.WRITE:
        image.write(place, what)
    elif kind == sequence.ZERO:
        image.zero(place, what)
    else:
        image.truncate(place)


def pieces(change, sector):
    """The parts of a write that a disk with this sector writes at once."""
    position, kind, place, what = change
    if kind != sequence.WRITE:
        return [change]
    cuts = [place, *range((place // sector + 1) * sector, place + len(what), sector), place + len(what)]
    return [(position, kind, start, what[start - place:end - place]) for start, end in zip(cuts, cuts[1:])]


class Disk:
    """The files of one directory while a sequence is replayed."""

    def __init__(self, directory, random):
        """Begins with the files of a directory, which are all synced, before the first record was made."""
        self.random = random
        self.inodes = {}
        self.names = {}  # as processes see them
        self.durable_names = {}
        self.pending_names = []  # (position, kind, names, file)
        self.syncs = {}
        self.directory = os.stat(directory).st_ino
        for entry in os.scandir(directory):
            if not entry.name.endswith(("-shm", ".lock")):
                with open(entry.path, "rb") as content:
                    file = File(Image(content.read().rstrip(b"\0"), entry.stat().st_size))
                self.inodes[entry.inode()] = self.names[entry.name] = self.durable_names[entry.name] = file

    def replay(self, position, record):
        """Does what a record says."""
        kind = record.kind
        if kind in (sequence.WRITE, sequence.ZERO, sequence.TRUNCATE):
            if (file := self.inodes.get(record.file)) is not None:
                what = record.bytes if kind == sequence.WRITE else int.from_bytes(record.bytes, "little")
                file.pending.append((position, kind, record.place, what))
        elif kind == sequence.SYNC_BEGIN:
            self.syncs[record.process, record.place] = position
        elif kind == sequence.SYNC_END:
            self.sync(record.file, self.syncs.pop((record.process, record.place)), bool(record.flag))
        elif kind in (sequence.CREATE, sequence.RENAME, sequence.LINK, sequence.UNLINK):
            names = bytes(record.bytes).decode().split("\0")
            if kind == sequence.CREATE:
                self.inodes[record.file] = File()
            file = self.inodes[record.file] if kind == sequence.CREATE else self.names.get(names[0])
            change = position, kind, names, file
            self.pending_names.append(change)
            self.rename(self.names, change)

    @staticmethod
    def rename(names, change):
        _, kind, path, file = change
        if kind in (sequence.RENAME, sequence.UNLINK):
            if names.get(path[0]) is not file:
                return
            del names[path[0]]
        if kind != sequence.UNLINK:
            names[path[-1]] = file

    def sync(self, inode, begin, failed):
        if inode == self.directory:
            if failed:
                # File systems keep names in a journal. They do not forget a part of it: they stop, or write it later.
                return
            for change in self.pending_names:
                if change[0] < begin:
                    self.rename(self.durable_names, change)
            self.pending_names = [change for change in self.pending_names if change[0] >= begin]
        elif (file := self.inodes.get(inode)) is not None:
            covered = [change for change in file.pending if change[0] < begin]
            file.pending = [change for change in file.pending if change[0] >= begin]
            keeps = self.random.choice((0, 0, 0.5)) if failed else 1
            for change in covered:
                if not failed or self.random.random() < keeps:
                    apply(file.durable, change)

    def seen(self):
        """The files as processes see them."""
        found = {}
        for name, file in self.names.items():
            found[name] = file.durable.copy()
            for change in file.pending:
                apply(found[name], change)
        return found

    def cut(self, random, mode=None):
        """A state after a power cut now, and how it was chosen: the files by name."""
        mode = mode or random.choice(MODES)
        sector = random.choice(SECTORS)
        share = random.choice((0.1, 0.5, 0.9))
        changes = [*self.pending_names, *(change for file in self.inodes.values() for change in file.pending)]
        chosen = random.choice(changes)[0] if changes else 0
        tears = mode == "torn" or random.random() < 0.3

        def survives(position, is_name):
            match mode:
                case "none":
                    return False
                case "all":
                    return True
                case "names":
                    return is_name
                case "data":
                    return not is_name
                case "one":
                    return position == chosen
                case "but-one":
                    return position != chosen
                case "beginning":
                    return position <= chosen
                case _:
                    return random.random() < share

        names = dict(self.durable_names)
        for change in self.pending_names:
            if survives(change[0], True):
                self.rename(names, change)
        state = {}
        for name, file in names.items():
            state[name] = image = file.durable.copy()
            garbage = random.random() < 0.25
            for change in file.pending:
                if mode == "torn" or (tears and mode not in ("none", "all") and change[0] == chosen):
                    whole = pieces(change, sector)
                    parts = [piece for piece in whole if random.random() < share]
                else:
                    parts = [change] if survives(change[0], False) else []
                for part in parts:
                    if garbage and part[1] == sequence.WRITE and part[2] > image.size:
                        # A file that has grown may have anything where nothing was written.
                        image.write(image.size, random.randbytes(part[2] - image.size))
                    apply(image, part)
        return state, mode
