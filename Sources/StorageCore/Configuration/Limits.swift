/// The limits of a store. A value beyond one is refused with `limit-exceeded`; nothing is truncated.
public enum Limits {
    /// The maximum size of one text or blob in bytes: 64 MiB.
    public static let valueBytes = 64 << 20
    /// The maximum size in bytes of all texts and blobs that one commit captures, old and new values together: 512 MiB.
    public static let commitBytes = 1 << 29
    /// The maximum number of row changes in one commit.
    public static let commitEvents = 16_777_216
    /// The maximum length of a table or column name in UTF-8 bytes.
    public static let nameBytes = 255
    /// The maximum length in UTF-8 bytes of each field of a commit's metadata, and of an attribute's name and value.
    public static let metadataBytes = 65_536
    /// The maximum number of attributes of one commit.
    public static let attributes = 256
    /// The maximum number of columns of one entity.
    public static let columns = 1_900

    /// Columns of a primary key: change capture counts them in a byte.
    package static let keyColumns = 255
    /// Columns that a table can get by plain SQL: SQLite's own limit.
    package static let tableColumns = 2_000
    /// How deeply a condition may be nested: its recursive uses fit any thread's stack.
    package static let conditionDepth = 200
    /// The conditions that one may join or negate, those of its parts included. A part that occurs several times counts each time:
    /// nested ones take no memory, and all uses would take time that doubles with each level.
    package static let conditionParts = 1 << 20
    /// Positions and numbers of commits. Computing with such a number, read from any file, doesn't overflow.
    package static let numbers: ClosedRange<Int64> = 1...(1 << 62) - 1
    /// Times of commits, in microseconds since 1970 UTC, with the same margin.
    package static let times: ClosedRange<Int64> = -(1 << 62)...(1 << 62) - 1
    /// 2026-01-01: the format's creation, so a correct clock never reads less.
    package static let knownTime: Int64 = 1_767_225_600_000_000
    /// 2100-01-01: a clock that reads more when a store is opened counts as wrong.
    package static let latestOpeningTime: Int64 = 4_102_444_800_000_000

    /// Ids of entities and columns.
    package static let catalogIds: ClosedRange<Int64> = 1...Int64(Int32.max)

    /// Events in a sealed run; windows of this many positions are sealed together.
    package static let segmentEvents = 1_024
    /// A run ends before its texts exceed this many bytes, unless a single event does.
    package static let segmentTargetBytes = 8 << 20
    /// The maximum decompressed size of a body: a single event of a commit at its limit, with metadata at their limits and some
    /// room.
    package static let segmentBytes = commitBytes + (64 << 20)

    /// The maximum that commits of one transaction take together before it ends, so that no commit waits for many others.
    package static let groupBytes = 1 << 20
    package static let groupEvents = 16_384
    package static let groupMicroseconds: Int64 = 2_000
    package static let groupCommits = 1_024

    /// The maximum number of prepared statements that the writer caches: one-off texts must not pile up.
    package static let keptStatements = 512

    /// The number of pages in the write-ahead log above which a commit checkpoints it: many at once, because each time waits for
    /// the disk; and fewer while segments are sealed, because commits wait for those transactions.
    package static let checkpointPages: Int32 = 4_000
    package static let sealingCheckpointPages: Int32 = 1_000

    /// A segment whose body is at least this long is in its final form when it is written.
    package static let finalRowBytes: Int64 = 1 << 20
    /// The number of windows whose segments may be compressed against one another.
    package static let baseGroup: Int64 = 8
    /// The maximum number of segments that have to be read one after another before one that is compressed against them.
    package static let baseDepth = 7
    /// The maximum uncompressed bytes of a segment that others are compressed against.
    package static let baseBytes = 2 << 20
    /// The maximum size with a base, as a fraction of the size without one, for which the base is worth reading.
    package static let baseGain = 0.92

    /// The maximum bytes of the bodies that are merged at a time; uncompressed, they are at most ``segmentTargetBytes``.
    package static let sealingRunBytes: Int64 = 4 << 20
}
