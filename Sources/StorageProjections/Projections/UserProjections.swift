internal import CSQLite
internal import Foundation
package import GRDB
internal import StorageCore
package import StorageLog

/// The projections of users on the writer: it makes their tables, lets them take in commits and batches, and keeps how far
/// each has come.
///
/// Isolation: used on the writer's queue only.
package final class UserProjections: InlineProjection {
    /// What one projection is to the writer.
    final class Slot {
        let registration: ProjectionRegistration
        /// Whether it takes in commits as they are made.
        var isInStep = false
        /// Whether rows of it may wait among the dead letters.
        var hasDeadLetters = false
        /// The entities that it reads, as long as the catalog stays what it is.
        var wanted: Set<UInt32>?
        /// Rows that were found on the way, while much of the log lies before it.
        var kept: KeptImages?

        init(_ registration: ProjectionRegistration) { self.registration = registration }

        var name: String { registration.name }
        var projection: any Projection { registration.projection }
    }

    /// Events that an inline projection wants to react to, once their commit is durable.
    private struct Reaction {
        let name: String
        let commit: Int64
        let events: [StorageEvent]
    }

    private(set) var slots: [Slot] = []
    private var database: GRDB.Database?
    private var reactions: [Reaction] = []
    var upcasts: [String: Upcast] = [:]
    /// Told after each transaction: the head, and what inline projections want to react to.
    var onCommit: ((Int64, [(name: String, events: [StorageEvent])]) -> Void)?

    package init() {}

    /// The connection that projections are given; the writer's own, so it is here as long as anybody calls.
    private func connection() throws -> GRDB.Database {
        guard let database else { throw StorageError.closed() }
        return database
    }

    func slot(_ name: String) -> Slot? { slots.first { $0.name == name } }

    package func reload(from writer: LogWriter) throws { forgetCatalog() }

    package func catalogChanged(renumbered: Set<UInt32>, in writer: LogWriter) throws { forgetCatalog() }

    private func forgetCatalog() { for slot in slots { slot.wanted = nil } }

    private func wanted(_ slot: Slot, _ catalog: Catalog) -> Set<UInt32> {
        if let known = slot.wanted { return known }
        let names = Set(slot.projection.entities.map(ExactText.init))
        let entities = catalog.entities.filter { entity in
            entity.id != CatalogEntity.catalog.id && (names.isEmpty || names.contains(ExactText(entity.name)))
        }
        let wanted = Set(entities.map(\.id))
        slot.wanted = wanted
        return wanted
    }
}

// MARK: With each commit

extension UserProjections {
    package func apply(
        _ events: Range<Int>, of view: EventView, commit: CommitInfo, in writer: LogWriter
    ) throws {
        guard !slots.isEmpty else { return }
        // A commit of that number was undone.
        reactions.removeAll { $0.commit >= commit.number }
        let first = writer.head.position + 1
        let positions = first + Int64(events.lowerBound)...first + Int64(events.upperBound) - 1
        for slot in slots where slot.isInStep {
            let wanted = wanted(slot, writer.catalog)
            let own = events.filter { wanted.contains(view.shape(of: $0).entity) }.map {
                RowEvent(view, at: $0, position: first + Int64($0), commit: commit)
            }
            guard !own.isEmpty else { continue }
            let applied = try applyInStep(slot, own, positions, writer)
            if slot.projection is any ReactingProjection, !applied.isEmpty {
                let told = applied.map { $0.event(writer.catalog) }
                reactions.append(Reaction(name: slot.name, commit: commit.number, events: told))
            }
        }
    }

    private func applyInStep(
        _ slot: Slot, _ events: [RowEvent], _ positions: ClosedRange<Int64>, _ writer: LogWriter
    ) throws -> [RowEvent] {
        guard var checkpoint = try Checkpoint.load(slot.name, writer.database) else { return [] }
        let started = ContinuousClock.now
        let applied: [RowEvent]
        do {
            applied = try run(slot, events, positions, isReplay: false, isBehind: false, writer)
        } catch {
            throw StorageError.projectionFailed(slot.name, positions, error)
        }
        checkpoint.position = max(checkpoint.position, positions.upperBound)
        checkpoint.count(applied.count, since: started, writer)
        try checkpoint.save(slot.name, writer)
        return applied
    }

    package func committed(in writer: LogWriter) {
        let through = writer.head.commit
        let due = reactions.filter { $0.commit <= through }
        reactions = []
        onCommit?(writer.head.position, due.map { ($0.name, $0.events) })
    }

    package func rebuild(_ entities: [CatalogEntity], in writer: LogWriter) throws {
        for slot in slots where slot.isInStep { try rebuild(slot, writer) }
    }

    /// Hands a batch to the projection; events of rows that wait among its dead letters join them.
    ///
    /// - Returns: The events that it has taken in.
    private func run(
        _ slot: Slot, _ events: [RowEvent], _ positions: ClosedRange<Int64>, isReplay: Bool, isBehind: Bool,
        _ writer: LogWriter
    ) throws -> [RowEvent] {
        let events = slot.hasDeadLetters ? try park(events, slot, writer) : events
        guard !events.isEmpty else { return [] }
        let images = RowImages(writer, upcasts: upcasts, isBehind: isBehind, kept: isBehind ? slot.kept : nil)
        let batch = ProjectionBatch(
            positions: positions, isReplay: isReplay, rowEvents: events, catalog: writer.catalog, images: images)
        let captured = writer.pendingEvents
        let db = try connection()
        try writer.asProjection { try slot.projection.apply(batch, db) }
        guard writer.pendingEvents == captured else { throw StorageError.projectionWrites(slot.name) }
        return events
    }
}

// MARK: Declaring

extension UserProjections {
    /// Takes up a projection that the program declares: makes its tables where they aren't there or are of another version.
    ///
    /// Runs a transaction of its own.
    func register(_ registration: ProjectionRegistration, _ writer: LogWriter, _ db: GRDB.Database) throws {
        database = db
        let slot = Slot(registration)
        try writer.group(db) {
            let known = try ProjectionTables.load(writer.database).first { $0.name == slot.name }
            let isSame =
                known?.version == registration.projection.version
                && known?.tables.entities == registration.projection.entities
            if isSame, let known {
                if known.kind != registration.mode.rawValue { try remember(slot, known.tables, writer) }
            } else {
                try makeAnew(slot, writer)
            }
        }
        slot.hasDeadLetters = try deadLetterCount(slot.name, writer) > 0
        slots.removeAll { $0.name == slot.name }
        slots.append(slot)
    }

    /// Drops the projection's tables and makes them empty; history up to where it was is only read again from then on.
    private func makeAnew(_ slot: Slot, _ writer: LogWriter) throws {
        let db = try connection()
        var checkpoint = Checkpoint()
        if let before = try Checkpoint.load(slot.name, writer.database) {
            checkpoint.replayed = max(before.replayed, before.position)
        } else {
            checkpoint.replayed = writer.head.position
        }
        try forget(slot.name, writer, db)
        let tables: ProjectionTables
        do {
            tables = try ProjectionTables.make(slot.projection, writer, db)
        } catch {
            let error = StorageError.wrapping(error)
            throw StorageError(
                .projectionFailed,
                "The projection \(slot.name) can't make its tables: \((error as? StorageError)?.message ?? "\(error)")",
                remedy: "Correct its prepare; nothing was changed.", cause: error)
        }
        try remember(slot, tables, writer)
        try checkpoint.save(slot.name, writer)
        slot.hasDeadLetters = false
        slot.kept = nil
    }

    private func remember(_ slot: Slot, _ tables: ProjectionTables, _ writer: LogWriter) throws {
        let insert = try writer.statement(
            """
            INSERT INTO storage_projection(name, kind, version, definition) VALUES (?1, ?2, ?3, ?4)
            ON CONFLICT(name) DO UPDATE SET kind = ?2, version = ?3, definition = ?4
            """)
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        insert.bind(text: slot.name, at: 1)
        insert.bind(text: slot.registration.mode.rawValue, at: 2)
        insert.bind(Int64(slot.projection.version), at: 3)
        insert.bind(text: String(decoding: try encoder.encode(tables), as: UTF8.self), at: 4)
        try insert.execute()
    }

    /// Takes a projection and all that is its own out of the store. Part of the transaction under way.
    package func forget(_ name: String, _ writer: LogWriter, _ db: GRDB.Database) throws {
        if let known = try ProjectionTables.load(writer.database).first(where: { $0.name == name }) {
            try known.tables.drop(writer, db)
        }
        let deletes = [
            "DELETE FROM storage_projection WHERE name = ?1 AND kind <> 'full-text'",
            "DELETE FROM storage_checkpoint WHERE projection = ?1",
            "DELETE FROM storage_dead_letter WHERE projection = ?1",
        ]
        for sql in deletes {
            let delete = try writer.statement(sql)
            delete.bind(text: name, at: 1)
            try delete.execute()
        }
    }

    /// Makes a projection again from the log, in the transaction under way.
    func rebuild(_ slot: Slot, _ writer: LogWriter) throws {
        try makeAnew(slot, writer)
        _ = try takeIn(slot, writer, BatchLimits(events: .max, slice: slot.registration.batchSize))
    }

    /// Empties a projection, which catches up from the beginning then.
    func reset(_ slot: Slot, _ writer: LogWriter, _ db: GRDB.Database) throws {
        try writer.group(db) { try makeAnew(slot, writer) }
    }
}

// MARK: Catching up

/// How much is taken in at once.
struct BatchLimits {
    /// Events after which the transaction ends with the commit under way.
    var events: Int
    /// Events that are handed over at once.
    var slice: Int
    /// Whether the transaction ends after the first commit with events of the projection's.
    var isSingle = false
    /// No slice reaches across this position: what lies before is only read again.
    var border: Int64 = 0
}

/// What one step of catching up has done.
struct BatchOutcome {
    /// The checkpoint from then on; nil where the projection was taken out of the store.
    var checkpoint: Checkpoint?
    var events = 0
    /// What a ``ReactingProjection`` is told.
    var told: [StorageEvent] = []
}

extension UserProjections {
    /// Takes in the next part of the log, in a transaction of its own.
    ///
    /// - Throws: ``ApplyFailure`` where the projection threw; nothing is changed then.
    func step(
        _ slot: Slot, _ limits: BatchLimits, _ writer: LogWriter, _ db: GRDB.Database
    ) throws -> BatchOutcome {
        guard let checkpoint = try Checkpoint.load(slot.name, writer.database) else { return BatchOutcome() }
        guard checkpoint.state == .running else { return BatchOutcome(checkpoint: checkpoint) }
        guard checkpoint.position < writer.head.position else {
            slot.kept = nil
            return BatchOutcome(checkpoint: checkpoint)
        }
        // A row that was found is worth keeping only while more of the log comes than one batch.
        if writer.head.position - checkpoint.position > Int64(slot.registration.batchSize), slot.kept == nil {
            slot.kept = try KeptImages()
        }
        return try writer.group(db) { try takeIn(slot, writer, limits) }
    }

    private func takeIn(_ slot: Slot, _ writer: LogWriter, _ limits: BatchLimits) throws -> BatchOutcome {
        guard var checkpoint = try Checkpoint.load(slot.name, writer.database) else { return BatchOutcome() }
        let head = writer.head.position
        let first = checkpoint.position + 1
        guard first <= head else { return BatchOutcome(checkpoint: checkpoint) }
        var outcome = BatchOutcome()
        let started = ContinuousClock.now
        let wanted = wanted(slot, writer.catalog)
        var limits = limits
        limits.border = checkpoint.replayed
        var feed = BatchFeed(first: first, limits: limits)
        let isTold = slot.projection is any ReactingProjection
        let replayed = checkpoint.replayed
        let end = try feed.run(LogReader(writer.database), through: head, wanted) { events, positions in
            let applied: [RowEvent]
            do {
                let isReplay = events[0].position <= replayed
                applied = try run(slot, events, positions, isReplay: isReplay, isBehind: true, writer)
            } catch {
                guard !error.isOfTheStore else { throw error }
                throw ApplyFailure(cause: error, positions: positions)
            }
            outcome.events += applied.count
            if isTold { outcome.told += applied.filter { $0.position > replayed }.map { $0.event(writer.catalog) } }
        }
        checkpoint.position = end
        checkpoint.count(outcome.events, since: started, writer)
        checkpoint.error = nil
        checkpoint.failed = nil
        try checkpoint.save(slot.name, writer)
        outcome.checkpoint = checkpoint
        return outcome
    }

    /// Takes in the next commit event by event, and lays aside those that the projection can't take in.
    func stepLayingAside(
        _ slot: Slot, _ writer: LogWriter, _ db: GRDB.Database
    ) throws -> BatchOutcome {
        try writer.group(db) {
            guard var checkpoint = try Checkpoint.load(slot.name, writer.database) else { return BatchOutcome() }
            var outcome = BatchOutcome()
            let wanted = wanted(slot, writer.catalog)
            let limits = BatchLimits(events: 1, slice: slot.registration.batchSize, isSingle: true)
            var feed = BatchFeed(first: checkpoint.position + 1, limits: limits)
            let started = ContinuousClock.now
            let end = try feed.run(LogReader(writer.database), through: writer.head.position, wanted) { events, _ in
                for event in events {
                    let isReplay = event.position <= checkpoint.replayed
                    switch try attempt(slot, event, isReplay: isReplay, writer) {
                    case .failure(let error): try layAside(event, "\(error)", slot, writer)
                    case .success(let applied):
                        outcome.events += applied.count
                        if !isReplay { outcome.told += applied.map { $0.event(writer.catalog) } }
                    }
                }
            }
            checkpoint.position = end
            checkpoint.count(outcome.events, since: started, writer)
            try checkpoint.save(slot.name, writer)
            outcome.checkpoint = checkpoint
            return outcome
        }
    }

    /// Lets the projection take in one event, alone in a savepoint.
    ///
    /// - Returns: What was taken in, or what it threw; nothing of the event is there then.
    private func attempt(
        _ slot: Slot, _ event: RowEvent, isReplay: Bool, _ writer: LogWriter
    ) throws -> Result<[RowEvent], any Error> {
        try writer.statement("SAVEPOINT storage_attempt").execute()
        do {
            let positions = event.position...event.position
            let applied = try run(slot, [event], positions, isReplay: isReplay, isBehind: true, writer)
            try writer.statement("RELEASE storage_attempt").execute()
            return .success(applied)
        } catch {
            guard !error.isOfTheStore else { throw error }
            try writer.statement("ROLLBACK TO storage_attempt").execute()
            try writer.statement("RELEASE storage_attempt").execute()
            return .failure(error)
        }
    }

    /// Changes what is said of a projection, in a transaction of its own.
    func change(
        _ name: String, _ writer: LogWriter, _ db: GRDB.Database, _ body: (inout Checkpoint) -> Void
    ) throws -> Checkpoint {
        try writer.group(db) {
            guard var checkpoint = try Checkpoint.load(name, writer.database) else {
                throw StorageError.noProjection(name)
            }
            body(&checkpoint)
            try checkpoint.save(name, writer)
            return checkpoint
        }
    }
}

// MARK: Dead letters

extension UserProjections {
    private func deadLetterCount(_ name: String, _ writer: LogWriter) throws -> Int64 {
        let count = try writer.statement("SELECT count(*) FROM storage_dead_letter WHERE projection = ?1")
        count.bind(text: name, at: 1)
        defer { count.reset() }
        return try count.step() ? count.integer(0) : 0
    }

    /// Lays events aside whose row waits already, so that each row's events keep their order.
    private func park(_ events: [RowEvent], _ slot: Slot, _ writer: LogWriter) throws -> [RowEvent] {
        let select = try Statement(
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
            try layAside(event, "waits behind @\(before) of the same row", slot, writer, attempts: 0)
            return false
        }
    }

    private func layAside(
        _ event: RowEvent, _ error: String, _ slot: Slot, _ writer: LogWriter, attempts: Int64 = 1
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
        try insert.execute()
    }

    /// Tries the dead letters again, oldest first, in one transaction. Where one fails again, those of the same row go on
    /// waiting.
    ///
    /// - Returns: How many were taken in.
    func replayDeadLetters(
        _ slot: Slot, _ writer: LogWriter, _ db: GRDB.Database
    ) throws -> (taken: Int, told: [StorageEvent]) {
        let hadDeadLetters = slot.hasDeadLetters
        // Nothing is to be parked behind the letter that is just being tried.
        slot.hasDeadLetters = false
        defer { slot.hasDeadLetters = hadDeadLetters }
        let result = try writer.group(db) {
            let replayed = try Checkpoint.load(slot.name, writer.database)?.replayed ?? 0
            var told: [StorageEvent] = []
            var taken = 0
            var waiting: Set<RowEvent.Row> = []
            let remove = try writer.statement("DELETE FROM storage_dead_letter WHERE projection = ?1 AND position = ?2")
            for event in try deadEvents(slot.name, writer) where !waiting.contains(event.row) {
                let isReplay = event.position <= replayed
                if case .failure(let error) = try attempt(slot, event, isReplay: isReplay, writer) {
                    try layAside(event, "\(error)", slot, writer)
                    slot.hasDeadLetters = false
                    waiting.insert(event.row)
                    continue
                }
                remove.bind(text: slot.name, at: 1)
                remove.bind(event.position, at: 2)
                try remove.execute()
                taken += 1
                if !isReplay { told.append(event.event(writer.catalog)) }
            }
            return (taken, told)
        }
        return result
    }

    private func deadEvents(_ name: String, _ writer: LogWriter) throws -> [RowEvent] {
        try DeadLetters.positions(of: name, writer.database).map {
            try DeadLetters.event(at: $0, LogReader(writer.database))
        }
    }
}

extension Checkpoint {
    fileprivate mutating func count(_ events: Int, since start: ContinuousClock.Instant, _ writer: LogWriter) {
        self.events += Int64(events)
        let took = (ContinuousClock.now - start).components
        microseconds += took.seconds * 1_000_000 + took.attoseconds / 1_000_000_000_000
        time = writer.configuration.clock.microseconds
    }
}

// MARK: Without the program

/// What can be asked of a projection without knowing its rules.
package enum ProjectionInstruction: Sendable {
    case pause, resume, reset
}

extension UserProjections {
    /// Changes what the store remembers of a projection that isn't registered here, in a transaction of its own.
    ///
    /// A reset only marks it as one of no version, so that the program that knows its rules makes it anew.
    package func instruct(
        _ name: String, _ instruction: ProjectionInstruction, _ writer: LogWriter, _ db: GRDB.Database
    ) throws {
        _ = try change(name, writer, db) { checkpoint in
            switch instruction {
            case .pause: if checkpoint.state == .running { checkpoint.state = .paused }
            case .resume, .reset: checkpoint.resume()
            }
        }
        guard instruction == .reset else { return }
        try writer.group(db) {
            let update = try writer.statement("UPDATE storage_projection SET version = 0 WHERE name = ?1")
            update.bind(text: name, at: 1)
            try update.execute()
        }
    }
}
