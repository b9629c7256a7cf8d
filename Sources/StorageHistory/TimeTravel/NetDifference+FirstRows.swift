internal import CSQLite
internal import StorageCore
package import StorageLog

extension NetDifference {
    /// A point in the order of the changes: all tables before `table` were reported, and its rows up to `key`.
    package struct ResumePoint: Sendable {
        let table: Int
        let key: [ExactValue]?
    }

    /// Calls `body` with the first changes, in the same order as all of them, before the events in between are read.
    ///
    /// Rows are taken from the live tables in the order of their keys, deleted ones from their tombstones; each changed row is
    /// followed along its own events. That costs far more per row than reading everything, so it is only for the first few, while
    /// reading the rest would take long. It ends where the order isn't certain: at a table that no longer exists or lost columns,
    /// at keys that are NULL or real, and where too many rows were deleted to sort.
    ///
    /// - Parameters:
    ///   - goesOn: Whether there is time left; called often.
    ///   - body: Called with the changes.
    /// - Returns: Where it ended; ``read(_:after:progress:)`` and ``forEachChange(_:after:_:)`` continue from there.
    package func forEachFirstChange(
        _ database: Connection, while goesOn: () -> Bool, _ body: (NetChange) throws -> Void
    ) throws -> ResumePoint {
        for tableIndex in tables.indices {
            guard selection.rows.isEmpty, scanned.contains(tableIndex), let entity = stableEntity(tableIndex),
                var rows = try FirstRows(database, entity, after: lower)
            else { return ResumePoint(table: tableIndex, key: nil) }
            let reader = LogReader(database)
            var last: [ExactValue]?
            var patience = Self.fewRows
            while true {
                switch try rows.next(skipping: &patience, while: goesOn) {
                case .end: break
                case .unsure: return ResumePoint(table: tableIndex, key: last)
                case .far:
                    patience = .max
                    guard let first = try firstKey(of: entity, database) else { continue }
                    guard let later = try FirstRows(database, entity, after: lower, from: first) else {
                        return ResumePoint(table: tableIndex, key: nil)
                    }
                    rows = later
                    continue
                case .row(let key):
                    let net = try net(key, of: entity, reader, while: goesOn)
                    guard goesOn() else { return ResumePoint(table: tableIndex, key: last) }
                    let change = net.flatMap {
                        NetChange($0, table: tables[tableIndex], isBackward: isBackward)
                    }
                    if let change {
                        try body(change)
                        patience = .max
                    } else {
                        patience -= min(patience, Self.walkCost)
                    }
                    last = key
                    continue
                }
                break
            }
        }
        return ResumePoint(table: tables.count, key: nil)
    }

    /// The number of unchanged rows to skip before it pays to find out where the first changed one is.
    private static let fewRows = 2_000
    /// The cost of a row whose events must be read, in unchanged rows.
    private static let walkCost = 500
    /// The maximum number of events whose keys are read for that.
    private static let shortRange: Int64 = 2_000_000

    /// The smallest first part of a key among the events of a short range, so that earlier rows needn't be read.
    ///
    /// - Returns: nil if the range is long, or if the order of its keys isn't certain.
    private func firstKey(of entity: CatalogEntity, _ database: Connection) throws -> ExactValue? {
        guard upper - lower <= Self.shortRange, lower < upper else { return nil }
        return try LogReader(database).leastKey(of: entity.id, in: lower + 1...upper)
    }

    /// The entity of a table that was the same in both states and lost no columns.
    private func stableEntity(_ tableIndex: Int) -> CatalogEntity? {
        let table = tables[tableIndex]
        let ids = Set([table.from?.id, table.to?.id].compactMap { $0 })
        guard ids.count == 1, let id = ids.first, let entity = present.entity(id: id), !entity.isDropped,
            entity.key.map(\.id) == table.key.map(\.id), lostColumns(of: tableIndex) == nil
        else { return nil }
        return entity
    }
}

/// The keys of the rows of a table that were changed after a position, deleted ones included, in SQLite's order.
private final class FirstRows {
    enum Next {
        case row([ExactValue])
        case end
        /// The next row isn't certain, or time is up.
        case unsure
        /// The limit of skipped unchanged rows was reached; another call continues after them.
        case far
    }

    private static let tombstoneLimit = 20_000

    private let keyCount: Int
    private let lower: Int64
    private let live: PreparedStatement
    private var hasLive: Bool
    private var liveKey: [ExactValue]?
    private var deleted: ArraySlice<[ExactValue]>

    /// - Parameter first: No row whose key begins with a smaller value has changed.
    /// - Returns: nil if the rows can't be read in order without sorting all of them.
    init?(
        _ database: Connection, _ entity: CatalogEntity, after lower: Int64, from first: ExactValue? = nil
    ) throws {
        self.lower = lower
        keyCount = entity.key.count
        let keys = entity.key.map { quoted($0.stored) }
        let order = keys.map { "\($0) COLLATE BINARY" }.joined(separator: ", ")
        let start = first == nil ? "" : " WHERE \(keys[0]) COLLATE BINARY >= ?1"
        let sql =
            "SELECT _position, \(keys.joined(separator: ", ")) FROM \(quoted(entity.stored))\(start) ORDER BY \(order)"
        let plan = try PreparedStatement(database, "EXPLAIN QUERY PLAN \(sql)")
        while try plan.step() { if plan.string(3).contains("TEMP B-TREE") { return nil } }
        live = try PreparedStatement(database, sql)
        first?.bind(to: live, at: 1)
        hasLive = try live.step()
        let select = try PreparedStatement(
            database,
            "SELECT key FROM storage_tombstone WHERE entity = ?1 AND position > ?2 LIMIT \(Self.tombstoneLimit + 1)")
        select.bind(Int64(entity.id), at: 1)
        select.bind(lower, at: 2)
        var found: [[ExactValue]] = []
        while try select.step() { found.append(try KeyCoding.decode(Array(select.bytes(0)))) }
        guard found.count <= Self.tombstoneLimit, found.allSatisfy(Self.isPlain) else { return nil }
        deleted = found.sorted { Self.order($0, $1) < 0 }[...]
    }

    /// - Parameter patience: The number of unchanged rows that may be skipped.
    func next(skipping patience: inout Int, while goesOn: () -> Bool) throws -> Next {
        if patience == 0 { return .far }
        while hasLive, liveKey == nil {
            if live.integer(0) > lower {
                let key = (0..<keyCount).map { ExactValue(live, column: Int32($0 + 1)) }
                guard Self.isPlain(key) else { return .unsure }
                liveKey = key
            } else {
                hasLive = try live.step()
                patience -= 1
                if patience % 64 == 0, !goesOn() { return .unsure }
                if patience == 0 { return .far }
            }
        }
        guard let liveKey else { return deleted.popFirst().map(Next.row) ?? .end }
        let order = deleted.first.map { Self.order(liveKey, $0) } ?? -1
        // SQLite treats the keys as equal, the log doesn't.
        if order == 0 { return .unsure }
        if order > 0, let key = deleted.popFirst() { return .row(key) }
        self.liveKey = nil
        hasLive = try live.step()
        return .row(liveKey)
    }

    /// Whether a key's order, and the row that it names, are certain.
    static func isPlain(_ key: [ExactValue]) -> Bool {
        key.allSatisfy { value in
            switch value {
            case .null, .real: false
            case .text(let bytes): String(validating: bytes, as: UTF8.self) != nil
            case .integer, .blob: true
            }
        }
    }

    static func order(_ one: [ExactValue], _ other: [ExactValue]) -> Int {
        for (a, b) in zip(one, other) where a != b { return ExactValue.isBefore(a, b) ? -1 : 1 }
        return 0
    }
}
