#!/usr/bin/env python3
"""decode_log.py: a second decoder of StorageKit's log, written from Format.md.

    python3 decode_log.py STORE

prints the canonical bytes of every commit and event of the store, as in the test vectors: `commit N BYTES`, followed by
`event P HEADER PAYLOAD` for each of its events. Whatever Format.md has a reader refuse ends it with one line on stderr and
exit code 1, and then nothing is printed at all.

It shares no code with StorageKit. The names are those of the specification, and its parts come in the order of reading: limits,
numbers, frames, the sections of a body, values, canonical bytes, rows, the file. A *run* is a row of the table storage_log; a
*row*, where no table is named, is a row of an entity.
"""
import ctypes
import hashlib
import os
import pathlib
import sqlite3
import struct
import sys
import unicodedata
from dataclasses import dataclass, field


class Refused(Exception):
    """What a reader has to refuse."""


def require(condition, why):
    if not condition:
        raise Refused(why)


# Limits ------------------------------------------------------------------------------------------------------------------------

LARGEST = 2**62 - 1            # of positions, numbers of commits and times
EARLIEST = -2**62
EVENTS_OF_A_RUN = 1024
COLUMNS_OF_A_SHAPE = 2000
COLUMNS_OF_AN_ENTITY = 3024
PARTS_OF_A_KEY = 255
ATTRIBUTES = 256
BODY = 2**29 + 2**26
BASE = 2**21
BASES = 7
WINDOW = 2**27
CONTENT = 2**26                # one text or blob
METADATA = 65536               # one text of a commit's metadata
CONTENTS_OF_A_COMMIT = 2**29
EDITS_OF_A_RUN = 2**29         # new texts and blobs that are stored as edits
EVENTS_OF_A_COMMIT = 2**24
FIRST_ID, LAST_ID = 32, 2**31 - 1

KNOWN_ENTITIES = {1, 14, 18, 21}
KNOWN_COLUMNS = set(range(2, 31)) - KNOWN_ENTITIES

INSERT, UPDATE, DELETE = 1, 2, 3
INTEGER, REAL, TEXT, BLOB = 1, 2, 3, 4
NULL = (5, b"")                # values are pairs of SQLite's type code and what a key holds of them


def is_entity(number):
    return number in KNOWN_ENTITIES or FIRST_ID <= number <= LAST_ID


def is_column(number):
    return number in KNOWN_COLUMNS or FIRST_ID <= number <= LAST_ID


# Numbers -----------------------------------------------------------------------------------------------------------------------

def wrap(number):
    """A sum of 64-bit numbers, which wraps."""
    return (number + 2**63) % 2**64 - 2**63


def from_zigzag(number):
    return -(number + 1) // 2 if number & 1 else number // 2


def zigzag(number):
    return -2 * number - 1 if number < 0 else 2 * number


def varint(number):
    encoded = bytearray()
    while number > 127:
        encoded.append(number & 127 | 128)
        number >>= 7
    return bytes(encoded + bytes([number]))


class Reader:
    """Reads numbers and bytes from the beginning of some bytes to their end, never behind it."""

    def __init__(self, data):
        self.data, self.offset = data, 0

    def take(self, length):
        require(length <= len(self.data) - self.offset, "something ends too early")
        self.offset += length
        return self.data[self.offset - length:self.offset]

    def byte(self):
        return self.take(1)[0]

    def varint(self):
        number = 0
        for shift in range(0, 70, 7):
            byte = self.byte()
            number |= (byte & 127) << shift
            if byte < 128:
                break
        require(byte < 128 and number < 2**64, "a varint has more than 64 bits")
        return number

    def count(self, most, of_what):
        number = self.varint()
        require(number <= most, f"too many {of_what}: {number}")
        return number

    def block(self):
        return self.take(self.varint())

    def string(self):
        text = self.take(self.count(METADATA, "bytes of a text of a commit"))
        require(is_utf8(text), "a text of a commit isn't UTF-8")
        return text

    def at_end(self):
        return self.offset == len(self.data)

    def end(self, of_what):
        require(self.at_end(), f"bytes behind the end of {of_what}")


def is_utf8(text):
    try:
        text.decode()
        return True
    except UnicodeDecodeError:
        return False


# Frames ------------------------------------------------------------------------------------------------------------------------

zstd = ctypes.CDLL("libzstd.so.1")
for name, result, arguments in (
        ("ZSTD_createDCtx", ctypes.c_void_p, []),
        ("ZSTD_freeDCtx", ctypes.c_size_t, [ctypes.c_void_p]),
        ("ZSTD_isError", ctypes.c_uint, [ctypes.c_size_t]),
        ("ZSTD_findFrameCompressedSize", ctypes.c_size_t, [ctypes.c_char_p, ctypes.c_size_t]),
        ("ZSTD_DCtx_refPrefix", ctypes.c_size_t, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t]),
        ("ZSTD_decompressDCtx", ctypes.c_size_t,
         [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_size_t])):
    getattr(zstd, name).restype = result
    getattr(zstd, name).argtypes = arguments


def check_frame_header(frame, size):
    """RFC 8878, 3.1.1.1. The library would take more kinds of frames than the format allows."""
    reader = Reader(frame)
    require(reader.take(4) == b"\x28\xb5\x2f\xfd", "a body isn't a zstd frame")
    descriptor = reader.byte()
    single_segment = descriptor & 32
    require(descriptor & 4, "a frame has no checksum")
    require(not descriptor & 3, "a frame has a dictionary id")
    require(descriptor >> 6 or single_segment, "a frame has no content size")
    window = 0 if single_segment else reader.byte()
    length = 1 << (descriptor >> 6)
    content_size = int.from_bytes(reader.take(length), "little") + (256 if length == 2 else 0)
    require(content_size == size, "the size of a frame isn't that of its row")
    power = 1 << (10 + (window >> 3))
    window_size = size if single_segment else power + power // 8 * (window & 7)
    require(window_size <= max(WINDOW, size), "the window of a frame is too large")


def decompress(frame, size, prefix):
    check_frame_header(frame, size)
    require(zstd.ZSTD_findFrameCompressedSize(frame, len(frame)) == len(frame), "a body isn't exactly one frame")
    context = zstd.ZSTD_createDCtx()
    body = ctypes.create_string_buffer(size)
    zstd.ZSTD_DCtx_refPrefix(context, prefix, len(prefix))
    written = zstd.ZSTD_decompressDCtx(context, body, size, frame, len(frame))
    zstd.ZSTD_freeDCtx(context)
    require(not zstd.ZSTD_isError(written) and written == size, "a frame can't be decompressed")
    return body.raw


# The body ----------------------------------------------------------------------------------------------------------------------

@dataclass
class Head:
    position: int
    events: int
    first_commit: int
    last_commit: int
    first_time: int
    last_time: int
    entities: list


@dataclass
class Commit:
    """A commit, or what one run says of it: then `events` are those in the run."""
    number: int
    events: int
    time: int
    fields: int
    metadata: bytes            # strings and attributes, as they stand in the section
    extensions: bytes          # the block with its length, or nothing
    first_position: int = 0
    size: int = 0              # of its texts and blobs
    lines: list = field(default_factory=list)


@dataclass
class Shape:
    entity: int
    operation: int
    parts: int
    columns: list

    def streams_of_key(self):
        return [(self.entity * 4096 + part) * 2 + 1 for part in range(self.parts)]

    def streams(self):
        return self.streams_of_key() + [column * 2 for column in self.columns]


def read_head(reader):
    position, events = reader.varint(), reader.count(EVENTS_OF_A_RUN, "events")
    first_commit = reader.varint()
    last_commit = first_commit + reader.varint()
    first_time = from_zigzag(reader.varint())
    last_time = first_time + reader.varint()
    require(events > 0, "a run has no events")
    require(1 <= position and position + events - 1 <= LARGEST, "a position exceeds its limit")
    require(1 <= first_commit and last_commit <= LARGEST, "a number of a commit exceeds its limit")
    require(EARLIEST <= first_time and last_time <= LARGEST, "a time exceeds its limit")
    entities = [reader.varint() for _ in range(reader.count(events, "entities"))]
    return Head(position, events, first_commit, last_commit, first_time, last_time, entities)


def check_extensions(block, known):
    """Parts one after another; no part with an odd tag is known yet."""
    reader, last = Reader(block), 0
    while not reader.at_end():
        tag, content = reader.varint(), reader.block()
        require(tag > last, "tags don't rise")
        require(tag % 2 == 0, f"an extension that has to be known and isn't: {tag}")
        if tag in known:
            known[tag](content)
        last = tag


def check_clock(content, time):
    reader = Reader(content)
    reading = wrap(time + from_zigzag(reader.varint()))
    require(EARLIEST <= reading <= LARGEST, "a clock's reading exceeds its limit")
    reader.end("a clock's reading")


def read_metadata(reader, fields):
    start = reader.offset
    for bit in (1, 2, 4, 8, 16):
        if fields & bit:
            reader.string()
    if fields & 32:
        last, spellings = None, set()
        for _ in range(reader.count(ATTRIBUTES, "attributes")):
            name, _ = reader.string(), reader.string()
            require(last is None or last < name, "attributes aren't sorted")
            last, spelling = name, unicodedata.normalize("NFC", name.decode())
            require(spelling not in spellings, "two attributes with canonically equivalent names")
            spellings.add(spelling)
    return reader.data[start:reader.offset]


def read_extensions_of_commit(reader, time):
    block = reader.block()
    require(block, "an extension block is empty")
    check_extensions(block, {2: lambda content: check_clock(content, time)})
    return varint(len(block)) + block


def read_commits(section, head):
    """The commits of a run, and whether the first one began before it and the last one goes on behind it."""
    reader = Reader(section)
    count, flags = reader.count(head.events, "commits"), reader.byte()
    require(count == head.last_commit - head.first_commit + 1, "the head and the commits contradict each other")
    require(flags < 4, "unknown bits of a section of commits")
    commits, time, before = [], head.first_time, None
    for number in range(head.first_commit, head.last_commit + 1):
        events, time, fields = reader.varint(), time + reader.varint(), reader.byte()
        require(events > 0, "a commit has no events")
        require(time <= head.last_time, "a commit is later than its run")
        if fields & 64:
            require(before and not fields & 63, "a commit has no metadata to repeat, or its own as well")
            fields, metadata = fields & 128 | before.fields & 63, before.metadata
        else:
            metadata = read_metadata(reader, fields)
        extensions = read_extensions_of_commit(reader, time) if fields & 128 else b""
        before = Commit(number, events, time, fields, metadata, extensions)
        commits.append(before)
    reader.end("the commits")
    require(commits[0].time == head.first_time and time == head.last_time, "the head and the commits have other times")
    require(sum(commit.events for commit in commits) == head.events, "the head and the commits have other numbers of events")
    return commits, bool(flags & 1), bool(flags & 2)


def read_shape(reader):
    entity, operation = reader.varint(), reader.varint()
    require(is_entity(entity), f"no id of an entity: {entity}")
    require(operation in (INSERT, UPDATE, DELETE), f"an unknown operation: {operation}")
    parts, count = reader.count(PARTS_OF_A_KEY, "parts of a key"), reader.count(COLUMNS_OF_A_SHAPE, "columns of a shape")
    require(parts > 0, "a shape has no key")
    columns, column = [], 0
    for _ in range(count):
        column = wrap(column + from_zigzag(reader.varint()))
        require(is_column(column), f"no id of a column: {column}")
        columns.append(column)
    require(len(set(columns)) == count, "a shape has a column twice")
    return Shape(entity, operation, parts, columns)


def read_shapes(section, head):
    reader = Reader(section)
    shapes = [read_shape(reader) for _ in range(reader.count(head.events, "shapes"))]
    reader.end("the shapes")
    columns = {}
    for shape in shapes:
        columns.setdefault(shape.entity, set()).update(shape.columns)
    require(all(len(ids) <= COLUMNS_OF_AN_ENTITY for ids in columns.values()), "too many columns of an entity")
    return shapes


def read_varints(section, count, of_what):
    reader = Reader(section)
    numbers = [reader.varint() for _ in range(count)]
    reader.end(of_what)
    return numbers


def read_streams(reader, shapes):
    named = [identifier for shape in shapes for identifier in shape.streams()]
    streams = {}
    for _ in range(reader.count(len(named), "streams")):
        identifier, heads, contents = reader.varint(), reader.varint(), reader.varint()
        require(identifier not in streams, "a stream is there twice")
        streams[identifier] = Stream(reader.take(heads), reader.take(contents))
    require(streams.keys() == set(named), "the streams aren't those of the shapes")
    return streams


# Values ------------------------------------------------------------------------------------------------------------------------

class Stream:
    """The values of one column or part of a key, in the order of events."""

    def __init__(self, heads, contents):
        self.heads, self.contents = Reader(heads), Reader(contents)
        self.last_integer = self.last_whole = self.edited = 0

    def value(self, held=None, old=None):
        """The next value. `held` is what the run already holds, `old` the old value where this is the new one of an update."""
        head = self.heads.varint()
        kind, number = head & 7, head >> 3
        if kind == 0:
            return self.without_content(number, held)
        if kind == 1:
            return self.integer(wrap(self.last_integer + from_zigzag(number)))
        if kind in (3, 4):
            require(number <= CONTENT, "a text or blob is too long")
            return kind, self.contents.take(number)
        if kind == 5:
            return self.whole(wrap(self.last_whole + from_zigzag(number)))
        if kind == 6:
            return self.edit(number, old)
        require(number == 0, f"a reserved head: {head}")
        if kind == 2:
            return REAL, self.contents.take(8)
        return self.integer(struct.unpack("<q", self.heads.take(8))[0])

    def without_content(self, number, held):
        if number == 0:
            return NULL
        require(number == 1, f"a reserved head: {number * 8}")
        require(held is not None, "the run doesn't hold the value")
        return held

    def integer(self, number):
        self.last_integer = number
        return INTEGER, struct.pack("<q", number)

    def whole(self, number):
        require(abs(number) < 2**53, "a whole real is too large")
        self.last_whole = number
        return REAL, struct.pack("<d", number)

    def edit(self, beginning, old):
        end, middle = self.heads.varint(), self.heads.varint()
        require(old is not None and old[0] in (TEXT, BLOB), "an edit of something that is no text or blob")
        kind, content = old
        require(beginning + end <= len(content), "an edit shares more than the old value has")
        require(beginning + middle + end <= CONTENT, "a text or blob is too long")
        self.edited += beginning + middle + end
        return kind, content[:beginning] + self.contents.take(middle) + content[len(content) - end:]

    def end(self):
        self.heads.end("the heads of a stream")
        self.contents.end("the bytes of a stream")


@dataclass
class Row:
    """What a run has said of a row of an entity up to an event."""
    entity: int
    key: list
    holds: dict = field(default_factory=dict)


def read_columns(shape, row, streams):
    """Each column of an event with its values, by rising id; the row then holds what is known of it behind the event."""
    columns, held = {}, row.holds
    if shape.operation == INSERT:
        row.holds = {}
    for column in shape.columns:
        stream = streams[column * 2]
        if shape.operation == INSERT:
            columns[column] = [stream.value()]
        elif shape.operation == DELETE:
            columns[column] = [stream.value(held.get(column))]
        else:
            old = stream.value(held.get(column))
            columns[column] = [old, stream.value(old=old)]
        if shape.operation != DELETE:
            row.holds[column] = columns[column][-1]
    return sorted(columns.items())


def content_size(values):
    return sum(len(content) for kind, content in values if kind in (TEXT, BLOB))


# Canonical bytes ---------------------------------------------------------------------------------------------------------------

def canonical_value(value):
    kind, content = value
    length = varint(len(content)) if kind in (TEXT, BLOB) else b""
    return bytes([kind]) + length + content


def canonical_values(values):
    return b"".join(map(canonical_value, values))


def event_line(store_id, position, commit, shape, previous, key, columns):
    header = (b"\x01" + store_id + varint(position) + varint(commit) + varint(shape.entity) + bytes([shape.operation])
              + varint(previous))
    payload = varint(len(key)) + canonical_values(key) + varint(len(columns))
    payload += b"".join(varint(column) + canonical_values(values) for column, values in columns)
    return f"event {position} {header.hex()} {payload.hex()}"


def commit_line(store_id, commit):
    content = b"\x02" + store_id + varint(commit.number) + varint(commit.first_position) + varint(commit.events)
    content += varint(zigzag(commit.time)) + bytes([commit.fields]) + commit.metadata + commit.extensions
    return f"commit {commit.number} {content.hex()}"


# Rows of the log ---------------------------------------------------------------------------------------------------------------

INTEGER_COLUMNS = tuple("position last first_commit last_commit first_time last_time format sealed size base".split())


class Log:
    """Reads a log from its first run to its last one, and collects its commits."""

    def __init__(self, store, store_id):
        self.store, self.store_id = store, store_id
        self.chain = hashlib.sha256(hashlib.sha256(store_id).digest())
        self.last_position = 0
        self.commit, self.goes_on = None, False        # the last commit, and whether the next run has to continue it
        self.last_of_row = {}                          # the last position of each row of an entity, by its key
        self.lines = []

    def read(self):
        for (position,) in self.store.execute("SELECT position FROM storage_log ORDER BY position").fetchall():
            self.read_run(position)
        require(not self.goes_on, "the log ends within a commit")
        self.finish_commit()

    def columns(self, position):
        """The columns of a row of storage_log, each of its type and within its limits."""
        names = ", ".join(INTEGER_COLUMNS + ("entities", "digest", "body"))
        run = self.store.execute(f"SELECT {names} FROM storage_log WHERE position = ?", (position,)).fetchone()
        require(run is not None, "a base isn't there")
        for column in INTEGER_COLUMNS:
            require(isinstance(run[column], int), f"{column} isn't an integer")
        for column in ("entities", "body") + (("digest",) if run["sealed"] else ()):
            require(isinstance(run[column], bytes), f"{column} isn't a blob")
        require(run["format"] == 4, f"a row of format {run['format']}")
        require(run["sealed"] in (0, 1), "sealed is neither 0 nor 1")
        require(len(run["digest"]) == 32 if run["sealed"] else run["digest"] is None, "a digest is missing, or one too many")
        require(0 <= run["size"] <= BODY, "a body is too large")
        require(0 <= run["base"] < run["position"], "a base isn't an earlier row")
        return run

    def body(self, run, bases=0):
        """The uncompressed body of a row, with those of the bases that it needs."""
        require(bases <= BASES, "a row needs too many bases")
        prefix = b""
        if run["base"]:
            base = self.columns(run["base"])
            require(base["sealed"] == 1 and base["size"] <= BASE, "a base isn't sealed, or too large")
            prefix = self.body(base, bases + 1)
        return decompress(run["body"], run["size"], prefix)

    def check_digest(self, run, body):
        self.chain.update(body)
        if run["sealed"]:
            require(self.chain.digest() == run["digest"], "the digest isn't that of the bodies")
            self.chain = hashlib.sha256(run["digest"])

    def read_run(self, position):
        run = self.columns(position)
        body = self.body(run)
        self.check_digest(run, body)
        reader = Reader(body)
        head = read_head(reader)
        self.check_columns(run, head)
        commits, shapes, indexes, links, extensions = [reader.block() for _ in range(5)]
        commits, continues, goes_on = read_commits(commits, head)
        shapes = read_shapes(shapes, head)
        indexes = read_varints(indexes, head.events, "the shape indexes")
        links = read_varints(links, head.events, "the links")
        check_extensions(extensions, {})
        streams = read_streams(reader, shapes)
        reader.end("the body")
        require(all(index < len(shapes) for index in indexes), "an index of no shape")
        require(head.entities == sorted({shapes[index].entity for index in indexes}), "the entities aren't those of the events")
        require(continues == self.goes_on, "two rows disagree on whether a commit continues")
        self.read_events(head, commits, [shapes[index] for index in indexes], links, streams)
        self.last_position, self.goes_on = run["last"], goes_on

    def check_columns(self, run, head):
        """What a row says twice, and how it follows the one before."""
        last = head.position + head.events - 1
        require((head.position, last) == (run["position"], run["last"]), "other positions in the body")
        require((head.first_commit, head.last_commit) == (run["first_commit"], run["last_commit"]), "other commits in the body")
        require((head.first_time, head.last_time) == (run["first_time"], run["last_time"]), "other times in the body")
        require(b"".join(map(varint, head.entities)) == run["entities"], "other entities in the body")
        require(head.position == self.last_position + 1, "a gap between positions")
        expected = (self.commit.number if self.commit else 0) + (not self.goes_on)
        require(head.first_commit == expected, "a gap between commits")
        require(self.commit is None or head.first_time >= self.commit.time, "times go backwards")

    def read_events(self, head, commits, shapes, links, streams):
        rows = {}                                      # the row of each event of the run
        events = zip(range(head.position, head.position + head.events), shapes, links)
        for commit in commits:
            self.begin_commit(commit, head.position + len(rows))
            for _ in range(commit.events):
                self.read_event(*next(events), rows, streams)
        for stream in streams.values():
            stream.end()
        require(sum(stream.edited for stream in streams.values()) <= EDITS_OF_A_RUN, "the edits of a run are too large")

    def read_event(self, position, shape, link, rows, streams):
        require(link < position, "a link to before the log")
        previous = position - link if link else 0
        row = rows.get(previous)
        if row is None:                                # no event of the run: the key stands here
            row = Row(shape.entity, [streams[identifier].value() for identifier in shape.streams_of_key()])
        require((row.entity, len(row.key)) == (shape.entity, shape.parts), "a link to an event of another entity")
        name = (shape.entity, canonical_values(row.key))
        require(self.last_of_row.get(name, 0) == previous, "a link isn't to the previous event of the row")
        self.last_of_row[name] = position
        rows[position] = row
        columns = read_columns(shape, row, streams)
        self.commit.size += content_size(row.key) + sum(content_size(values) for _, values in columns)
        require(self.commit.size <= CONTENTS_OF_A_COMMIT, "the texts and blobs of a commit are too large")
        self.commit.lines.append(event_line(self.store_id, position, self.commit.number, shape, previous, row.key, columns))

    def begin_commit(self, commit, position):
        """A commit of its own, or the rest of the one that the run before began."""
        if self.commit is None or commit.number != self.commit.number:
            self.finish_commit()
            self.commit, commit.first_position = commit, position
            return
        for name in ("time", "fields", "metadata", "extensions"):
            require(getattr(commit, name) == getattr(self.commit, name), f"two rows disagree on the {name} of a commit")
        self.commit.events += commit.events
        require(self.commit.events <= EVENTS_OF_A_COMMIT, "a commit has too many events")

    def finish_commit(self):
        if self.commit is not None:
            self.lines += [commit_line(self.store_id, self.commit)] + self.commit.lines
            self.commit.lines = []


# The file ----------------------------------------------------------------------------------------------------------------------

def open_store(path):
    # An immutable file is read without its write-ahead log, so one that holds something would be a part of the history missed.
    log = path + "-wal"
    require(not os.path.exists(log) or os.path.getsize(log) == 0, "the store has a write-ahead log: close it first")
    store = sqlite3.connect(pathlib.Path(path).absolute().as_uri() + "?mode=ro&immutable=1", uri=True)
    store.row_factory = sqlite3.Row
    require(store.execute("PRAGMA application_id").fetchone()[0] == 0x53544B54, "not a store: other application_id")
    require(store.execute("PRAGMA encoding").fetchone()[0] == "UTF-8", "the encoding isn't UTF-8")
    return store


def check_meta(store):
    rows = store.execute("SELECT format, incompatible, first_position FROM storage_meta").fetchall()
    require(len(rows) == 1, "storage_meta hasn't one row")
    require(rows[0]["format"] == 4, f"unsupported-format: {rows[0]['format']}")
    require(rows[0]["incompatible"] == 0, f"unsupported-format: unknown features {rows[0]['incompatible']}")
    require(rows[0]["first_position"] == 1, "the log doesn't begin at 1")


def read_lineage(store):
    lines = store.execute("SELECT number, id, fork FROM storage_lineage ORDER BY number").fetchall()
    require([line["number"] for line in lines] == list(range(1, len(lines) + 1)) and lines, "the lines have a gap")
    require(all(isinstance(line["id"], bytes) and len(line["id"]) == 16 for line in lines), "an id isn't 16 bytes")
    forks = [line["fork"] for line in lines]
    require(all(isinstance(fork, int) for fork in forks) and forks[0] == 0 and forks == sorted(forks), "forks don't rise from 0")
    return lines[0]["id"], forks[-1]


def decode(path):
    store = open_store(path)
    check_meta(store)
    store_id, last_fork = read_lineage(store)
    log = Log(store, store_id)
    log.read()
    require(last_fork <= log.last_position, "a line begins behind the end of the log")
    return log.lines


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: decode_log.py STORE")
    try:
        lines = decode(sys.argv[1])
    except (Refused, sqlite3.Error) as error:
        sys.exit(f"{sys.argv[1]}: refused: {error}")
    sys.stdout.writelines(line + "\n" for line in lines)


if __name__ == "__main__":
    main()
