internal import CSQLite
internal import Foundation
package import StorageCore

/// Reads the log of one connection: forward or backward, from any position, without decompressing what is skipped.
///
/// Not `Sendable`: it belongs to its connection's thread, and sees the state that the connection's transaction sees.
package final class LogReader {
    package let database: Connection
    /// Had only when it is needed: a look at the head is not worth it.
    private var decoder: SegmentDecoder?
    private var containing: PreparedStatement?
    /// The batches that were asked for last: the versions of a row often lie close together.
    private var recent: [EventBatch] = []
    private lazy var outlines = OutlineDecoder()
    /// The outlines that were asked for last: rows whose histories are read one after the other were often changed together.
    private var recentOutlines: [SegmentOutline] = []
    private lazy var bases = SegmentBaseCache(database)

    package init(_ database: Connection) { self.database = database }

    deinit {
        // Those that somebody still holds give their memory back later.
        recent.removeAll()
        if let decoder { DecoderPool.shared.give(decoder) }
    }

    package func head() throws -> LogHead { try LogHead.load(database) }

    /// Hands over the rows of the log that hold any of `positions`, until `body` answers false.
    ///
    /// - Parameter wanted: Whether a row is to be decoded, from what its columns say of it.
    package func forEachBatch(
        in positions: ClosedRange<Int64>, descending: Bool = false,
        where wanted: (SegmentHeader) -> Bool = { _ in true },
        _ body: (EventBatch) throws -> Bool
    ) throws {
        let select = try PreparedStatement(database, Self.selectRows(descending: descending))
        select.bind(positions.lowerBound, at: 1)
        select.bind(positions.upperBound, at: 2)
        var ahead: ReadAheadDecoder?
        var count = 0
        while try select.step() {
            let header = try Self.header(of: select)
            guard header.last >= positions.lowerBound, wanted(header) else { continue }
            count += 1
            guard count > Self.fewRows else {
                if try !body(try decode(select, header)) { return }
                continue
            }
            try checkFormat(select, header)
            let decoder = ahead ?? ReadAheadDecoder()
            ahead = decoder
            let base = Result { try self.base(of: select) }
            if let batch = try decoder.exchange(header, body: select.bytes(10), base: base), try !body(batch) { return }
        }
        while let batch = try ahead?.next() {
            if try !body(batch) { return }
        }
    }

    /// Most reads end with so many rows; longer ones are worth a second thread.
    private static let fewRows = 2

    /// The rows that hold any position from the first parameter to the second.
    private static func selectRows(descending: Bool) -> String {
        """
        SELECT position, last, first_commit, last_commit, first_time, last_time, entities, format, size, base, body
        FROM storage_log WHERE position <= ?2
          AND position >= (SELECT coalesce(max(position), 0) FROM storage_log WHERE position <= ?1)
        ORDER BY position \(descending ? "DESC" : "ASC")
        """
    }

    /// The row of the log that holds a position.
    package func batch(containing position: Int64) throws -> EventBatch? {
        try batch(containing: position, through: nil)
    }

    /// - Parameter last: The position up to which events are wanted; all where nil.
    private func batch(containing position: Int64, through last: Int64?) throws -> EventBatch? {
        let known = recent.first { batch in
            batch.positions.contains(position)
                && (last ?? batch.header.last) - batch.header.first < Int64(batch.filled)
        }
        if let known { return known }
        return try row(containing: position) { row, header in
            // Before another takes memory, so that it takes the same.
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

    /// - Throws: `corrupt` where its numbers make no sense.
    private static func header(of row: PreparedStatement) throws -> SegmentHeader {
        var header = SegmentHeader(
            first: row.integer(0), last: row.integer(1), firstCommit: row.integer(2), lastCommit: row.integer(3),
            firstTime: row.integer(4), lastTime: row.integer(5), entities: [])
        let bytes = row.bytes(6)
        if let start = bytes.baseAddress {
            var reader = ByteReader(start.assumingMemoryBound(to: UInt8.self), count: bytes.count)
            while reader.remaining > 0, !reader.failed, header.entities.count <= Limits.segmentEvents {
                header.entities.append(UInt32(truncatingIfNeeded: reader.varint()))
            }
        }
        header.size = Int(truncatingIfNeeded: row.integer(8))
        return try header.checked()
    }

    private func decode(
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

    private func base(of row: PreparedStatement) throws -> SegmentBase? {
        try row.integer(9) == 0 ? nil : bases.base(at: row.integer(9), using: usedDecoder())
    }

    private func checkFormat(_ row: PreparedStatement, _ header: SegmentHeader) throws {
        guard row.integer(7) == StoreSchema.formatVersion else {
            throw StorageError(
                .unsupportedFormat, "Row @\(header.first) of the log has format \(row.integer(7)).",
                remedy: "Open the store with a newer version of StorageKit, or run `storagekit verify`.")
        }
    }
}

// MARK: Beginnings

extension LogReader {
    /// What the row of the log that holds a position says before its values, at a small part of the cost of its events.
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

    /// Enough for rows with so many versions each, at a small cost where nothing is found among them.
    private static let fewOutlines = 16

    /// Hands over what the rows of the log that hold any of `positions` say before their values, last first, until `body`
    /// answers false.
    ///
    /// - Parameter wanted: Whether a row is to be read, from what its columns say of it.
    package func forEachOutline(
        in positions: ClosedRange<Int64>, where wanted: (SegmentHeader) -> Bool = { _ in true },
        _ body: (SegmentOutline) throws -> Bool
    ) throws {
        let select = try PreparedStatement(database, Self.selectRows(descending: true))
        select.bind(positions.lowerBound, at: 1)
        select.bind(positions.upperBound, at: 2)
        while try select.step() {
            let header = try Self.header(of: select)
            guard header.last >= positions.lowerBound, wanted(header) else { continue }
            try checkFormat(select, header)
            if try !body(try outlines.outline(of: select.bytes(10), header, base: base(of: select))) { return }
        }
    }

    /// The least first part among the keys of an entity's rows that were changed in a range, in SQLite's order.
    ///
    /// - Returns: nil where there are none, or where a key's place in that order isn't beyond doubt.
    package func leastKey(of entity: UInt32, in positions: ClosedRange<Int64>) throws -> ExactValue? {
        let select = try PreparedStatement(database, Self.selectRows(descending: false))
        select.bind(positions.lowerBound, at: 1)
        select.bind(positions.upperBound, at: 2)
        var least: ExactValue?
        while try select.step() {
            let header = try Self.header(of: select)
            guard header.last >= positions.lowerBound, header.entities.contains(entity) else { continue }
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
    /// The position of a row's last event; nil when the row never was.
    package func lastPosition(of key: [StorageValue], in entity: CatalogEntity) throws -> Int64? {
        if let position = try livePosition(of: key, in: entity) { return position }
        let select = try PreparedStatement(
            database, "SELECT position FROM storage_tombstone WHERE entity = ? AND key = ?")
        select.bind(Int64(entity.id), at: 1)
        select.bind(blob: KeyCoding.encode(key), at: 2)
        return try select.step() ? select.integer(0) : nil
    }

    /// The position of the last event of a row that is there; nil when there is no such row.
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
        // SQLite finds 1 for 1.0, which is another row in the log.
        guard try select.step(), key.indices.allSatisfy({ select.row.value(at: Int32($0 + 1)) == key[$0] }) else {
            return nil
        }
        return select.integer(0)
    }

    /// Where the events of one row stand, newest first, until `body` answers false; their values aren't read.
    package func forEachVersionOutline(
        of key: [StorageValue], in entity: CatalogEntity, _ body: (SegmentOutline, Int) throws -> Bool
    ) throws {
        guard var position = try lastPosition(of: key, in: entity) else { return }
        while position > 0 {
            guard let outline = try outline(containing: position) else {
                throw StorageError.corruptLog("position @\(position) is missing")
            }
            let index = Int(position - outline.header.first)
            guard try body(outline, index) else { return }
            // Less than its own position: the decoder has made sure.
            position = outline.previous(ofEvent: index)
        }
    }

    /// The events of one row, newest first, until `body` answers false. Costs one look-up per version.
    ///
    /// What comes behind an event in its row of the log may be missing from its batch.
    package func forEachVersion(
        of key: [StorageValue], in entity: CatalogEntity, _ body: (EventBatch, Int) throws -> Bool
    ) throws {
        guard var position = try lastPosition(of: key, in: entity) else { return }
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
