internal import GRDB
internal import StorageCore
internal import StorageHistory
package import StorageLog

extension UserProjections {
    package func deadLetterCount(_ name: String, _ writer: LogWriter) throws -> Int64 {
        let count = try writer.statement("SELECT count(*) FROM storage_dead_letter WHERE projection = ?1")
        count.bind(text: name, at: 1)
        defer { count.reset() }
        return try count.step() ? count.integer(0) : 0
    }

    /// Lays events aside whose row waits already, so that each row's events keep their order.
    func park(_ events: [RowEvent], of slot: Slot, on writer: LogWriter) throws -> [RowEvent] {
        let select = try PreparedStatement(
            writer.database,
            """
            SELECT position FROM storage_dead_letter WHERE projection = ?1 AND entity = ?2 AND key = ?3 AND position < ?4
            ORDER BY position LIMIT 1
            """)
        return try events.filter { event in
            select.bind(text: slot.name, at: 1)
            select.bind(Int64(event.row.entity), at: 2)
            select.bind(blob: event.row.key, at: 3)
            select.bind(event.position, at: 4)
            guard try select.step() else {
                select.reset()
                return true
            }
            let before = select.integer(0)
            select.reset()
            try storeDeadLetter(
                event, of: slot, error: "waits behind @\(before) of the same row", attempts: 0, on: writer)
            return false
        }
    }

    func storeDeadLetter(
        _ event: RowEvent, of slot: Slot, error: String, attempts: Int64 = 1, on writer: LogWriter
    ) throws {
        slot.hasDeadLetters = true
        let insert = try writer.statement(
            """
            INSERT INTO storage_dead_letter(projection, position, entity, key, error, attempts, time)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
            ON CONFLICT DO UPDATE SET error = ?5, attempts = attempts + ?6, time = ?7
            """)
        insert.bind(text: slot.name, at: 1)
        insert.bind(event.position, at: 2)
        insert.bind(Int64(event.row.entity), at: 3)
        insert.bind(blob: event.row.key, at: 4)
        insert.bind(text: error, at: 5)
        insert.bind(attempts, at: 6)
        insert.bind(writer.configuration.clock.microseconds, at: 7)
        try writer.asEngine { try insert.execute() }
    }

    /// Tries the dead letters again, oldest first, in one transaction. If one fails again, later ones of the same row
    /// remain.
    ///
    /// - Returns: The number of applied events, and those for a ``SideEffectingProjection``.
    func replayDeadLetters(
        _ slot: Slot, on writer: LogWriter, _ db: GRDB.Database
    ) throws -> (applied: Int, emitted: [AppliedRange]) {
        let hadDeadLetters = slot.hasDeadLetters
        // The letter being tried must not be parked behind itself.
        slot.hasDeadLetters = false
        defer { slot.hasDeadLetters = hadDeadLetters }
        let result = try writer.group(db) {
            let replayed = try Checkpoint.load(slot.name, writer.database)?.replayed ?? 0
            var emitted: [AppliedRange] = []
            var applied = 0
            var waiting: Set<RowAddress> = []
            let remove = try writer.statement("DELETE FROM storage_dead_letter WHERE projection = ?1 AND position = ?2")
            for event in try deadEvents(slot.name, writer) where !waiting.contains(event.row) {
                let isReplay = event.position <= replayed
                if case .failure(let error) = try attempt(event, by: slot, isReplay: isReplay, on: writer) {
                    try storeDeadLetter(event, of: slot, error: "\(error)", on: writer)
                    slot.hasDeadLetters = false
                    waiting.insert(event.row)
                    continue
                }
                remove.bind(text: slot.name, at: 1)
                remove.bind(event.position, at: 2)
                try writer.asEngine { try remove.execute() }
                applied += 1
                if !isReplay { emitted.append(AppliedRange(event.position...event.position, hasEvents: true)) }
            }
            return (applied, emitted)
        }
        return result
    }

    func deadEvents(_ name: String, _ writer: LogWriter) throws -> [RowEvent] {
        try DeadLetterReader.positions(of: name, writer.database).map {
            try DeadLetterReader.event(at: $0, LogReader(writer.database))
        }
    }
}

extension Checkpoint {
    mutating func count(_ events: Int, since start: ContinuousClock.Instant, on writer: LogWriter) {
        self.events += Int64(events)
        let took = (ContinuousClock.now - start).components
        microseconds += took.seconds * 1_000_000 + took.attoseconds / 1_000_000_000_000
        time = writer.configuration.clock.microseconds
    }
}
