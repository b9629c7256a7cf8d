internal import CSQLite
internal import Foundation
package import StorageCore

/// Reads the log of one connection: forward or backward, from any position, without decompressing what is skipped.
///
/// Not `Sendable`: it belongs to its connection's thread, and sees the state that the connection's transaction sees.
package final class LogReader {
    package let database: Connection
    /// Taken from the pool when first needed: reading the head doesn't need one.
    private var decoder: SegmentDecoder?
    private var containing: PreparedStatement?
    /// The most recently read batches: the versions of a row often lie close together.
    private var recent: [EventBatch] = []
    private lazy var outlines = OutlineDecoder()
    /// The most recently read outlines: rows whose histories are read one after another were often changed together.
    private var recentOutlines: [SegmentOutline] = []
    private lazy var bases = SegmentBaseCache(database)
    /// The users' entities that were found in the catalog, so that each is looked up once.
    private var knownEntities: Set<UInt32> = []
    private var catalogued: PreparedStatement?

    package init(_ database: Connection) { self.database = database }

    deinit {
        // Batches that are still in use return their memory later.
        recent.removeAll()
        if let decoder { DecoderPool.shared.give(decoder) }
    }

    /// The size of the batches that are kept.
    var keptBytes: Int { recent.reduce(0) { $0 + $1.header.size } }

    package func head() throws -> LogHead { try LogHead.load(database) }

    /// Calls `body` with the segments that hold any of `positions`, until it returns false.
    ///
    /// - Parameter wanted: Whether to decode a segment, judged by its columns.
    package func forEachBatch(
        in positions: ClosedRange<Int64>, descending: Bool = false,
        where wanted: (SegmentHeader) -> Bool = { _ in true },
        _ body: (EventBatch) throws -> Bool
    ) throws {
        let batches = try BatchIterator(positions, descending: descending, of: self)
        while let batch = try batches.next(where: wanted), try body(batch) {}
    }

    /// Whether there is an event of one of some entities in `positions`.
    ///
    /// - Parameters:
    ///   - isWanted: Whether an entity, by its id, is one of them.
    ///   - condition: What the event must meet besides.
    package func hasEvents(
        in positions: ClosedRange<Int64>, of isWanted: (UInt32) -> Bool,
        where condition: (_ event: Int, EventView) -> Bool = { _, _ in true }
    ) throws -> Bool {
        var isFound = false
        try forEachBatch(in: positions, where: { $0.entities.contains(where: isWanted) }) { batch in
            let first = batch.header.first
            let events = positions.clamped(to: batch.positions)
            isFound = batch.withView { view in
                (Int(events.lowerBound - first)...Int(events.upperBound - first)).contains { event in
                    isWanted(view.shape(of: event).entity) && condition(event, view)
                }
            }
            return !isFound
        }
        return isFound
    }

    /// Selects the segments that hold any position from the first parameter to the second.
    static func selectRows(descending: Bool) -> String {
        """
        SELECT position, last, first_commit, last_commit, first_time, last_time, entities, format, size, base, body
        FROM storage_log WHERE position <= ?2
          AND position >= (SELECT coalesce(max(position), 0) FROM storage_log WHERE position <= ?1)
        ORDER BY position \(descending ? "DESC" : "ASC")
        """
    }

    /// The segment that holds a position.
    package func batch(containing position: Int64) throws -> EventBatch? {
        try batch(containing: position, through: nil)
    }

    /// - Parameter last: The last wanted position; all events of the segment if nil.
    private func batch(containing position: Int64, through last: Int64?) throws -> EventBatch? {
        let known = recent.first { batch in
            batch.positions.contains(position)
                && (last ?? batch.header.last) - batch.header.first < Int64(batch.filled)
        }
        if let known { return known }
        return try row(containing: position) { row, header in
            // Before the next batch is allocated, so that it reuses the memory.
            if recent.count >= 2 { recent.removeFirst() }
            let batch = try decode(row, header, through: last)
            recent.append(batch)
            return batch
        }
    }

    private func row<Result>(
        containing position: Int64, _ body: (PreparedStatement, SegmentHeader) throws -> Result
    ) throws -> Result? {
        let select: PreparedStatement
        if let containing {
            select = containing
        } else {
            select = try PreparedStatement(
                database,
                """
                SELECT position, last, first_commit, last_commit, first_time, last_time, entities, format, size, base, body
                FROM storage_log WHERE position <= ? ORDER BY position DESC LIMIT 1
                """)
            containing = select
        }
        select.bind(position, at: 1)
        defer { select.reset() }
        guard try select.step() else { return nil }
        let header = try Self.header(of: select)
        guard header.last >= position else { return nil }
        return try body(select, header)
    }

    /// - Throws: `corrupt` if its numbers are invalid.
    static func header(of row: PreparedStatement) throws -> SegmentHeader {
        var header = SegmentHeader(
            first: row.integer(0), last: row.integer(1), firstCommit: row.integer(2), lastCommit: row.integer(3),
            firstTime: row.integer(4), lastTime: row.integer(5), entities: [])
        let bytes = row.bytes(6)
        if let start = bytes.baseAddress {
            var reader = ByteReader(start.assumingMemoryBound(to: UInt8.self), count: bytes.count)
            while reader.remaining > 0, !reader.failed, header.entities.count <= Limits.segmentEvents {
                header.entities.append(UInt32(reader.varint(atMost: Int(UInt32.max))))
            }
            guard !reader.failed else {
                throw StorageError.corruptLog("the entities of row @\(header.first) can't be read")
            }
        }
        header.size = Int(truncatingIfNeeded: row.integer(8))
        return try header.checkedWithEntities()
    }

    /// Decodes a segment that is skipped because of its entities if the catalog doesn't know one of them: skipping it would hide
    /// its events if the column was damaged, which decoding detects.
    func checkSkipped(_ row: PreparedStatement, _ header: SegmentHeader) throws {
        for entity in header.entities where !CatalogEntity.isReserved(entity) && !knownEntities.contains(entity) {
            guard try isCatalogued(entity) else {
                _ = try decode(row, header)
                return
            }
            knownEntities.insert(entity)
        }
    }

    private func isCatalogued(_ entity: UInt32) throws -> Bool {
        let select =
            try catalogued ?? PreparedStatement(database, "SELECT 1 FROM storage_catalog WHERE id = ? AND entity = 0")
        catalogued = select
        select.bind(Int64(entity), at: 1)
        defer { select.reset() }
        return try select.step()
    }

    func decode(
        _ row: PreparedStatement, _ header: SegmentHeader, through last: Int64? = nil
    ) throws -> EventBatch {
        try checkFormat(row, header)
        return try usedDecoder().decode(body: row.bytes(10), of: header, base: base(of: row), through: last)
    }

    private func usedDecoder() -> SegmentDecoder {
        let decoder = decoder ?? DecoderPool.shared.take()
        self.decoder = decoder
        return decoder
    }

    func base(of row: PreparedStatement) throws -> SegmentBase? {
        try row.integer(9) == 0 ? nil : bases.base(at: row.integer(9), using: usedDecoder())
    }

    func checkFormat(_ row: PreparedStatement, _ header: SegmentHeader) throws {
        guard row.integer(7) == StoreSchema.formatVersion else {
            throw StorageError(
                .unsupportedFormat, "Row @\(header.first) of the log has format \(row.integer(7)).",
                remedy: "Open the store with a newer version of StorageKit, or run `storagekit verify`.")
        }
    }
}

// MARK: Beginnings

extension LogReader {
    /// The outline of the segment that holds a position, at a small part of the cost of its events.
    package func outline(containing position: Int64) throws -> SegmentOutline? {
        let known = recentOutlines.first { $0.header.first <= position && position <= $0.header.last }
        if let known { return known }
        return try row(containing: position) { row, header in
            try checkFormat(row, header)
            let outline = try outlines.outline(of: row.bytes(10), header, base: base(of: row))
            if recentOutlines.count >= Self.fewOutlines { recentOutlines.removeFirst() }
            recentOutlines.append(outline)
            return outline
        }
    }

    /// Enough for rows with that many versions each, at a small cost if the search finds none.
    private static let fewOutlines = 16

    /// Calls `body` with the outlines of the segments that hold any of `positions`, last first, until it returns false.
    ///
    /// - Parameter wanted: Whether to read a segment, judged by its columns.
    package func forEachOutline(
        in positions: ClosedRange<Int64>, where wanted: (SegmentHeader) -> Bool = { _ in true },
        _ body: (SegmentOutline) throws -> Bool
    ) throws {
        let select = try PreparedStatement(database, Self.selectRows(descending: true))
        select.bind(positions.lowerBound, at: 1)
        select.bind(positions.upperBound, at: 2)
        while try select.step() {
            let header = try Self.header(of: select)
            guard header.last >= positions.lowerBound else { continue }
            guard wanted(header) else {
                try checkSkipped(select, header)
                continue
            }
            try checkFormat(select, header)
            if try !body(try outlines.outline(of: select.bytes(10), header, base: base(of: select))) { return }
        }
    }

    /// The least first key part, in SQLite's order, among an entity's rows that were changed in a range.
    ///
    /// - Returns: nil if there are none, or if they include NULLs or reals, whose order isn't certain.
    package func leastKey(of entity: UInt32, in positions: ClosedRange<Int64>) throws -> ExactValue? {
        let select = try PreparedStatement(database, Self.selectRows(descending: false))
        select.bind(positions.lowerBound, at: 1)
        select.bind(positions.upperBound, at: 2)
        var least: ExactValue?
        while try select.step() {
            let header = try Self.header(of: select)
            guard header.last >= positions.lowerBound else { continue }
            guard header.entities.contains(entity) else {
                try checkSkipped(select, header)
                continue
            }
            try checkFormat(select, header)
            let found = try outlines.leastKey(
                of: entity, at: positions, in: select.bytes(10), header, base: base(of: select))
            guard let key = found.value else {
                if found.isPlain { continue }
                return nil
            }
            least = least.map { ExactValue.isBefore(key, $0) ? key : $0 } ?? key
        }
        return least
    }
}

extension LogReader {
    /// The position of a row's last event; nil if the row never existed.
    package func lastPosition(of key: [StorageValue], in entity: CatalogEntity) throws -> Int64? {
        try livePosition(of: key, in: entity) ?? deletedPosition(of: key, in: entity)
    }

    /// The position of the last event of a row that doesn't exist any more; nil if it exists, or never did.
    private func deletedPosition(of key: [StorageValue], in entity: CatalogEntity) throws -> Int64? {
        let select = try PreparedStatement(
            database, "SELECT position FROM storage_tombstone WHERE entity = ? AND key = ?")
        select.bind(Int64(entity.id), at: 1)
        select.bind(blob: KeyCoding.encode(key), at: 2)
        return try select.step() ? select.integer(0) : nil
    }

    /// Returns the keys, as the log has them, of the rows that SQL finds by a key; at no time there is more than one of these rows. The first
    /// is the given key, as the table would store it.
    ///
    /// A column makes the integer 5 of 5.0, or keeps both apart, and then SQL finds either by the other one. Of a key of several columns, either all
    /// numbers are as given, or none.
    package func recordedKeys(equalTo key: [StorageValue], in entity: CatalogEntity) -> [[StorageValue]] {
        let columns = entity.key
        let stored = key.count == columns.count ? zip(columns, key).map { $0.affinity.conversion(of: $1) ?? $1 } : key
        let other = stored.map { $0.sameNumber ?? $0 }
        return other == stored ? [stored] : [stored, other]
    }

    /// Returns the key of the row that SQL finds by a key, or of the one that was deleted last, as the log has it, and the position of the
    /// row's last event; the given key, as the table would store it, and nil if there was never such a row.
    package func recordedRow(
        equalTo key: [StorageValue], in entity: CatalogEntity
    ) throws -> (key: [StorageValue], last: Int64?) {
        let keys = recordedKeys(equalTo: key, in: entity)
        for key in keys {
            if let last = try livePosition(of: key, in: entity) { return (key, last) }
        }
        var found: (key: [StorageValue], last: Int64?) = (keys[0], nil)
        for key in keys {
            if let last = try deletedPosition(of: key, in: entity), last > found.last ?? 0 { found = (key, last) }
        }
        return found
    }

    /// The position of an existing row's last event; nil if there is no such row.
    package func livePosition(of key: [StorageValue], in entity: CatalogEntity) throws -> Int64? {
        let columns = entity.key
        guard key.count == columns.count else {
            throw StorageError(
                .invalidArgument, "The key of \"\(entity.name)\" has \(columns.count) columns, not \(key.count).",
                remedy: "Give one value for each: \(columns.map(\.name).joined(separator: ", ")).")
        }
        guard !entity.isDropped else { return nil }
        let condition = condition(binding: columns.map(\.stored))
        let names = columns.map { quoted($0.stored) }.joined(separator: ", ")
        let select = try PreparedStatement(
            database, "SELECT _position, \(names) FROM \(quoted(entity.stored)) WHERE \(condition)")
        try select.bind(key)
        // SQLite finds 1 for 1.0, which is a different row in the log.
        guard try select.step(), key.indices.allSatisfy({ select.row.value(at: Int32($0 + 1)) == key[$0] }) else {
            return nil
        }
        return select.integer(0)
    }

    /// Calls `body` with the outline and index of each event of one row, newest first, until it returns false; values aren't
    /// read.
    package func forEachVersionOutline(
        of key: [StorageValue], in entity: CatalogEntity, _ body: (SegmentOutline, Int) throws -> Bool
    ) throws {
        var versions = try VersionOutlines(of: key, in: entity, self)
        while let (outline, index) = try versions.next() {
            guard try body(outline, index) else { return }
        }
    }

    /// Calls `body` with the events of one row, newest first, until it returns false. Costs one look-up per version.
    ///
    /// Events after it in the same segment may be missing from its batch.
    package func forEachVersion(
        of key: [StorageValue], in entity: CatalogEntity, _ body: (EventBatch, Int) throws -> Bool
    ) throws {
        guard let position = try lastPosition(of: key, in: entity) else { return }
        try forEachVersion(from: position, body)
    }

    /// Calls `body` with an event and the earlier ones of its row, newest first, until it returns false; with none for position 0.
    package func forEachVersion(from last: Int64, _ body: (EventBatch, Int) throws -> Bool) throws {
        var position = last
        while position > 0 {
            guard let batch = try batch(containing: position, through: position) else {
                throw StorageError.corruptLog("position @\(position) is missing")
            }
            let index = Int(position - batch.header.first)
            guard try body(batch, index) else { return }
            let previous = batch.withView { $0.events[index].previous }
            guard previous < position else {
                throw StorageError.corruptLog("event @\(position) points ahead of itself")
            }
            position = previous
        }
    }
}

extension StorageValue {
    /// The same number in SQLite's other storage class of numbers; nil if there is none.
    fileprivate var sameNumber: StorageValue? {
        switch self {
        case .integer(let whole): Double(exactly: whole).map(StorageValue.real)
        case .real(let number): Int64(exactly: number).map(StorageValue.integer)
        default: nil
        }
    }
}
