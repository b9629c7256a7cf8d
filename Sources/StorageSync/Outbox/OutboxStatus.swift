package import GRDB
internal import StorageCore
internal import StorageKit
internal import StorageLog

/// The stored outbox of one engine and path of its remote, whether the engine is open or not.
package struct OutboxStatus: Sendable, Equatable {
    /// A write that the remote hasn't accepted.
    package struct Write: Sendable, Equatable {
        package enum State: Sendable, Equatable {
            case waiting
            /// It was sent without an answer: the remote may have accepted it.
            case sent
            case parked(reason: String)
            /// The engine discards it when it is next opened.
            case discarded
        }

        /// The position of its event in the store's log.
        package let position: Int64
        package let documentId: String
        package let kind: PendingWrite.Kind
        package let state: State
        /// The position of the last write that is sent with it as one; nil before it is first sent.
        package let origin: Int64?

        package var isParked: Bool { if case .parked = state { true } else { false } }
    }

    /// The engine's key.
    package let manager: String
    package let path: String
    /// The table of the documents.
    package let entity: String
    /// Whether the table contains the documents of this path.
    package let isActive: Bool
    /// The number of failures since the remote's last answer.
    package let failures: Int
    /// The engine doesn't contact the remote by itself before this time, in microseconds since 1970; nil if nothing has
    /// failed.
    package let retryTime: Int64?
    /// Whether the remote has lost writes that aren't kept any more.
    package let hasLostWrites: Bool
    /// In the order in which they were made.
    package private(set) var writes: [Write]

    package var parkedCount: Int { writes.count(where: \.isParked) }

    private init(_ row: SyncRemoteRow, manager: String, entity: String, writes: [Write]) {
        self.manager = manager
        self.entity = entity
        path = row.path
        isActive = row.isActive
        failures = row.record.failures
        retryTime = row.record.failures > 0 ? row.record.retryTime : nil
        hasLostWrites = row.record.hasLostWrites
        self.writes = writes
    }
}

extension OutboxStatus {
    /// The outboxes of all engines that have used the store, by key and path.
    ///
    /// - Complexity: O(*n*) in the number of unconfirmed writes, and in the part of the log that no engine has read.
    package static func all(in db: Database) throws -> [OutboxStatus] {
        try SyncRemoteRow.engines(in: db).flatMap { manager, entity in
            try SyncRemoteRow.all(of: manager, in: db).sorted { $0.path < $1.path }.map { row in
                OutboxStatus(
                    row, manager: manager, entity: entity,
                    writes: try Self.writes(of: row, manager: manager, entity: entity, in: db))
            }
        }
    }

    private static func writes(
        of row: SyncRemoteRow, manager: String, entity: String, in db: Database
    ) throws -> [Write] {
        let table = OutboxTable(manager: manager, path: row.path, entity: entity)
        let discarded = Set(try table.discarded(in: db).map(\.position))
        let known = try table.all(in: db)
        let positions = Set(known.map(\.position))
        let unknown = try unscanned(row, manager: manager, entity: entity, in: db).filter {
            !positions.contains($0.position)
        }
        return (known + unknown).filter { $0.remotePosition == nil }.sorted { $0.position < $1.position }.map {
            Write($0, isDiscarded: discarded.contains($0.position))
        }
    }

    /// Writes that no engine has read yet. They belong to the active path.
    private static func unscanned(
        _ row: SyncRemoteRow, manager: String, entity: String, in db: Database
    ) throws -> [PendingWrite] {
        guard row.isActive else { return [] }
        let connection = try db.connection
        return try WriteScan(entity: entity, id: DocumentKey.id(in: entity, of: manager)).writes(
            behind: row.scanned, base: row.record.position, LogReader(connection), try Catalog.load(connection)
        ).map(\.write)
    }
}

extension OutboxStatus.Write {
    fileprivate init(_ write: PendingWrite, isDiscarded: Bool) {
        position = write.position
        documentId = write.document.id
        kind = write.kind
        origin = write.origin
        state =
            switch write.state {
            case _ where isDiscarded: .discarded
            case .parked(let rejection): .parked(reason: rejection.description)
            case .sending: .sent
            case .waiting, .accepted, .confirmed: .waiting
            }
    }
}

// MARK: Changing

extension OutboxStatus {
    /// Returns the same outbox with only the selected writes, and those that are sent as one with them.
    package func selecting(_ isIncluded: (Write) -> Bool) -> OutboxStatus {
        let meant = writes.filter { $0.state != .discarded && isIncluded($0) }
        let origins = Set(meant.compactMap(\.origin))
        let positions = Set(meant.map(\.position))
        var selected = self
        selected.writes = writes.filter { write in
            positions.contains(write.position) || write.origin.map { origins.contains($0) } ?? false
        }
        return selected
    }

    /// Makes the engine contact the remote at once, and send this outbox's parked writes again, like `retryNow()` and `retry(_:)` of an engine. Part
    /// of the current transaction; no engine may be open.
    ///
    /// - Parameter now: In microseconds since 1970.
    package func retry(at now: Int64, in db: Database) throws {
        guard var row = try row(in: db) else { return }
        let table = OutboxTable(manager: manager, path: path, entity: entity)
        let discarded = Set(try table.discarded(in: db).map(\.position))
        let kept = try table.all(in: db).filter { !discarded.contains($0.position) }
        var core = SyncCore(
            record: row.record, outbox: Outbox(rows: kept), followed: FollowedDocuments(isListening: false))
        var generator = SystemRandomNumberGenerator()
        let inputs = [SyncInput.retryNow] + writes.filter(\.isParked).map { .retry(position: $0.position) }
        for input in inputs {
            for case .save(let transaction) in core.step(input, at: now, using: &generator) {
                try table.save(transaction.writes, in: db)
            }
        }
        row.record = core.record
        try save(&row, in: db)
    }

    /// Marks the writes of this outbox, so that the engine discards them when it is next opened: their documents revert to the remote's state, with
    /// the later writes on top, as after `discard(_:)` of an engine. Part of the current transaction; no engine may be open.
    package func discard(in db: Database) throws {
        guard var row = try row(in: db) else { return }
        let table = OutboxTable(manager: manager, path: path, entity: entity)
        let positions = Set(writes.map(\.position))
        let unscanned = try Self.unscanned(row, manager: manager, entity: entity, in: db)
        try table.add(unscanned.filter { positions.contains($0.position) }, in: db)
        for position in positions.sorted() { try table.discard(position, in: db) }
        try save(&row, in: db)
    }

    private func row(in db: Database) throws -> SyncRemoteRow? {
        try SyncRemoteRow.all(of: manager, in: db).first { $0.path == path }
    }

    private func save(_ row: inout SyncRemoteRow, in db: Database) throws {
        row.revision += 1
        try row.save(manager: manager, entity: entity, in: db)
    }
}
