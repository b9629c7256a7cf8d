internal import CSQLite
public import Foundation
internal import StorageCore

/// Which events to read, and in which order.
///
/// Names are compared by their bytes, as SQLite does. A set can hold only one of two names that differ in Unicode's
/// normalisation alone.
///
/// ```swift
/// let query = LogQuery(tables: ["users"], actors: ["anna"], dates: yesterday...today)
/// for try await event in storage.log.events(query) { print(event.position, event.operation) }
/// ```
public struct LogQuery: Sendable {
    /// Positions to read; all by default.
    public var positions: ClosedRange<Int64>
    /// The commit times to read, in microseconds since 1970 UTC, both ends included. See ``dates``.
    public var times: ClosedRange<Int64> = Int64.min...Int64.max
    /// Events of these entities only, by name; nil for all of users' entities.
    public var tables: Set<String>?
    /// Events of these operations only; nil for all.
    public var operations: Set<StorageEvent.Operation>?
    /// Commits by these actors only; nil for all.
    public var actors: Set<String>?
    /// Commits of these programs only; nil for all.
    public var apps: Set<String>?
    /// Commits with these reasons only; nil for all.
    public var reasons: Set<String>?
    /// Updates that change one of these columns, and inserts and deletes of rows that have one, whatever its value; nil
    /// for all.
    public var columns: Set<String>?
    /// Whether to include changes of the store's own entities: of the schema, of tags, notes and operations.
    public var includesSchema: Bool
    /// Whether to read the newest events first.
    public var descending: Bool

    /// Creates a query; a parameter that is left out restricts nothing: `LogQuery()` reads every event of your tables,
    /// oldest first. Those of the schema, tags, notes and operations need `includesSchema`.
    public init(
        positions: ClosedRange<Int64> = 1...Int64.max, tables: Set<String>? = nil,
        operations: Set<StorageEvent.Operation>? = nil, actors: Set<String>? = nil, apps: Set<String>? = nil,
        reasons: Set<String>? = nil, columns: Set<String>? = nil, dates: ClosedRange<Date>? = nil,
        includesSchema: Bool = false, descending: Bool = false
    ) {
        self.positions = positions
        self.tables = tables
        self.operations = operations
        self.actors = actors
        self.apps = apps
        self.reasons = reasons
        self.columns = columns
        self.includesSchema = includesSchema
        self.descending = descending
        self.dates = dates
    }

    /// ``times`` as dates, both ends included; nil if all times are read. The date of a commit or receipt finds that
    /// commit.
    public var dates: ClosedRange<Date>? {
        get {
            guard times != Int64.min...Int64.max else { return nil }
            return Date(microseconds: times.lowerBound)...Date(microseconds: times.upperBound)
        }
        set {
            times = newValue.map { $0.lowerBound.microseconds...$0.upperBound.microseconds } ?? Int64.min...Int64.max
        }
    }

    package func wants(_ commit: CommitInfo) -> Bool {
        guard times.contains(commit.time) else { return false }
        let metadata = commit.metadata
        return wants(metadata.actor, actors) && wants(metadata.app, apps) && wants(metadata.reason, reasons)
    }

    private func wants(_ value: String?, _ wanted: Set<String>?) -> Bool {
        guard let wanted else { return true }
        return value.map(wanted.containsExactly) ?? false
    }

    /// Ids of the wanted entities, dropped ones included.
    func entities(in catalog: Catalog) -> Set<UInt32> {
        var ids: Set<UInt32> = []
        for entity in catalog.entities {
            if entity.isReserved {
                if includesSchema || (tables?.containsExactly(entity.name) ?? false) { ids.insert(entity.id) }
            } else if tables?.containsExactly(entity.name) ?? true {
                ids.insert(entity.id)
            }
        }
        return ids
    }

    func columnIds(in catalog: Catalog) -> Set<UInt32>? {
        guard let columns else { return nil }
        return Set(catalog.entities.flatMap(\.columns).filter { columns.containsExactly($0.name) }.map(\.id))
    }
}

/// The part of a commit that lies in one segment, with its events that match a query.
package struct CommitPart {
    package let info: CommitInfo
    /// Indexes of all of the commit's events in the batch.
    package let events: Range<Int>
    /// Indexes of the matching events, in the order of the query; may be empty.
    package let matching: [Int]

    package init(info: CommitInfo, events: Range<Int>, matching: [Int]) {
        self.info = info
        self.events = events
        self.matching = matching
    }
}

extension LogReader {
    /// Calls `body` with the parts of commits in segments that may hold matching events, until it returns false.
    package func forEachPart(
        _ query: LogQuery, catalog: Catalog, _ body: (EventBatch, CommitPart) throws -> Bool
    ) throws {
        let entities = query.entities(in: catalog)
        let columns = query.columnIds(in: catalog)
        let wanted = { (header: SegmentHeader) in
            header.lastTime >= query.times.lowerBound && header.firstTime <= query.times.upperBound
                && header.entities.contains(where: entities.contains)
        }
        try forEachBatch(in: query.positions, descending: query.descending, where: wanted) { batch in
            try batch.withView { view in
                let shapes = (0..<view.shapeCount).map { query.wants(view.shapes[$0], of: entities, columns: columns) }
                let commits = query.descending ? batch.commits.reversed() : batch.commits
                for commit in commits where query.wants(commit.info) {
                    let matching = commit.events.filter { index in
                        shapes[Int(view.events[index].shape)]
                            && query.positions.contains(batch.header.first + Int64(index))
                    }
                    let part = CommitPart(
                        info: commit.info, events: commit.events,
                        matching: query.descending ? matching.reversed() : matching)
                    if try !body(batch, part) { return false }
                }
                return true
            }
        }
    }

    /// Calls `body` with the matching events, until it returns false.
    package func forEachEvent(
        _ query: LogQuery, catalog: Catalog, _ body: (EventBatch, Int, CommitInfo) throws -> Bool
    ) throws {
        try forEachPart(query, catalog: catalog) { batch, part in
            for index in part.matching where try !body(batch, index, part.info) { return false }
            return true
        }
    }
}

extension LogQuery {
    fileprivate func wants(_ shape: storage_shape, of entities: Set<UInt32>, columns columnIds: Set<UInt32>?) -> Bool {
        guard entities.contains(shape.entity) else { return false }
        if let operations, !operations.contains(StorageEvent.Operation(shape)) { return false }
        guard let columnIds else { return true }
        return (0..<Int(shape.column_count)).contains { columnIds.contains(shape.columns[$0]) }
    }
}
