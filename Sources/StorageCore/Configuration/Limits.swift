/// The declared limits. What exceeds one is refused with `limit-exceeded`; nothing is cut.
public enum Limits {
    /// Bytes of one text or blob.
    public static let valueBytes = 64 << 20
    /// Bytes of all texts and blobs that one commit captures, old and new values together.
    public static let commitBytes = 1 << 29
    /// Changes of rows in one commit.
    public static let commitEvents = 16_777_216
    /// UTF-8 bytes of a table or column name.
    public static let nameBytes = 255
    /// UTF-8 bytes of each field of a commit's metadata, and of an attribute's name and value.
    public static let metadataBytes = 65_536
    /// Attributes of one commit.
    public static let attributes = 256
    /// Columns of one entity.
    public static let columns = 1_900

    /// Columns of a primary key: change capture counts them in a byte.
    package static let keyColumns = 255
    /// Columns that a table can come to have by plain SQL: SQLite's own limit.
    package static let tableColumns = 2_000
    /// Positions and numbers of commits. What is computed from such a number, read from whatever file, doesn't overflow.
    package static let numbers: ClosedRange<Int64> = 1...(1 << 62) - 1
    /// Times of commits, in microseconds since 1970 UTC, with the same room.
    package static let times: ClosedRange<Int64> = -(1 << 62)...(1 << 62) - 1
    /// 2026-01-01: when the format was made, so no clock that is right reads less.
    package static let knownTime: Int64 = 1_767_225_600_000_000
    /// 2100-01-01: a clock that reads more when a store is opened is wrong.
    package static let latestOpeningTime: Int64 = 4_102_444_800_000_000

    /// Ids of entities and columns.
    package static let catalogIds: ClosedRange<Int64> = 1...Int64(Int32.max)

    /// Events in a sealed run; windows of this many positions are sealed together.
    package static let segmentEvents = 1_024
    /// A run ends before its texts exceed this many bytes, unless a single event does.
    package static let segmentTargetBytes = 8 << 20
    /// What a body may decompress to at the most: a single event of a commit at its limit, with metadata at theirs and room.
    package static let segmentBytes = commitBytes + (64 << 20)

    /// What commits that share a transaction may take together before it ends, so that nobody waits for many others.
    package static let groupBytes = 1 << 20
    package static let groupEvents = 16_384
    package static let groupMicroseconds: Int64 = 2_000
    package static let groupCommits = 1_024

    /// Statements that the writer keeps prepared: those of one-off texts must not pile up.
    package static let keptStatements = 512

    /// Pages of the write-ahead log behind which a commit brings them into the file: many at once, because each time the disk is
    /// waited for; and fewer while rows are sealed, in whose transactions commits wait.
    package static let checkpointPages: Int32 = 4_000
    package static let sealingCheckpointPages: Int32 = 1_000

    /// A row whose body is this long is in its final form when it is written.
    package static let finalRowBytes: Int64 = 1 << 20
    /// Windows whose rows may be compressed against one another.
    package static let baseGroup: Int64 = 8
    /// Rows that have to be read one after another at the most before one that is compressed against them.
    package static let baseDepth = 7
    /// Uncompressed bytes of a row that others are compressed against.
    package static let baseBytes = 2 << 20
    /// What a row may take at the most, as a part of what it takes by itself, for its base to be worth reading, too.
    package static let baseGain = 0.92

    /// Bytes of the bodies of the rows that are merged at a time; uncompressed they are ``segmentTargetBytes`` at the most.
    package static let sealingRunBytes: Int64 = 4 << 20
}
