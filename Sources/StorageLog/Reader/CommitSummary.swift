/// A commit of the log: who made it, when and why, the positions of its events, and how many of its events match.
///
/// ```swift
/// for try await commit in storage.log.commits() {
///     print(commit.number, commit.date.formatted(), commit.changes["orders"]?.insert ?? 0)
/// }
/// ```
///
/// The matching events are counted by table and operation. ``EventLog/commits(_:)`` returns summaries. The header's
/// properties can be read from them: `commit.number`, `commit.metadata`.
@dynamicMemberLookup
public struct CommitSummary: Sendable, Hashable {
    /// The number of events by operation.
    public struct Counts: Sendable, Hashable {
        /// The number of inserted rows.
        public var insert = 0
        /// The number of updated rows.
        public var update = 0
        /// The number of deleted rows.
        public var delete = 0

        /// The number of events of all operations.
        public var total: Int { insert + update + delete }

        public init() {}
    }

    /// The commit's number, time and metadata.
    public let info: CommitInfo
    /// The positions of all of its events, whether they match or not.
    public let positions: ClosedRange<Int64>
    /// The counts of its matching events by the table's current name, in the order of the names' bytes.
    package let tables: [TableCounts]

    package struct TableCounts: Sendable, Hashable {
        package let table: String
        package let counts: Counts
    }

    /// The counts of its matching events, by the table's current name. Tables whose names differ in Unicode's normalisation alone
    /// are one key.
    public var changes: [String: Counts] {
        tables.reduce(into: [:]) { $0[$1.table, default: Counts()].add($1.counts) }
    }

    package init(info: CommitInfo, positions: ClosedRange<Int64>, tables: [TableCounts]) {
        self.info = info
        self.positions = positions
        self.tables = tables.sorted { $0.table.utf8.lexicographicallyPrecedes($1.table.utf8) }
    }

    public subscript<Value>(dynamicMember path: KeyPath<CommitInfo, Value>) -> Value { info[keyPath: path] }
}

extension CommitSummary.Counts {
    package mutating func add(_ operation: StorageEvent.Operation, count: Int = 1) {
        switch operation {
        case .insert: insert += count
        case .update: update += count
        case .delete: delete += count
        }
    }

    package mutating func add(_ other: Self) {
        insert += other.insert
        update += other.update
        delete += other.delete
    }
}
