import Foundation
import StorageKit
import StorageLog
import StorageRouting

/// What follows commits.
extension HotPath {
    static let routing = HotPath(
        "route", operations: 1_000, "changed rows routed past 10,000 subscriptions, on one thread"
    ) {
        folder, count in
        try route(count, past: 10_000, meeting: "new", in: folder)
    }

    static let unconcerned = HotPath(
        "route-past", operations: 1_000, "changed rows routed past 100,000 subscriptions that they don't concern"
    ) {
        folder, count in
        try route(count, past: 100_000, meeting: "another", in: folder)
    }

    /// - Parameter prefix: What the cities of subscriptions begin with. Those of the changed rows begin with "new".
    private static func route(
        _ count: Int, past subscriptions: Int, meeting prefix: String, in folder: HotPathFolder
    ) throws {
        let storage = try folder.store { $0.autoSchema(HotPathRowRecord.self) }
        try storage.commitNow(1) { _, tx in try tx.save((0..<count).map { HotPathRow($0) }) }
        let router = try router(of: storage, subscriptions, meeting: prefix)
        func update(isCounted: Bool) throws {
            let changes = ChangeFold()
            // Sound: notifications come on this thread, while `commitNow` runs.
            nonisolated(unsafe) let (unsafeRouter, unsafeChanges) = (router, changes)
            nonisolated(unsafe) var unsafeDatabase: GRDB.Database?
            let observation = storage.engine.observers.add { events in
                func route(_ db: GRDB.Database) {
                    unsafeRouter.fill(unsafeChanges) { $0.add(events.view, 0..<events.view.count, first: events.first) }
                    _ = unsafeRouter.route(unsafeChanges, rows: CurrentRows(db))
                }
                // The writer's own connection, as of others another one may be had each time, with nothing in its cache.
                guard let db = unsafeDatabase else { return }
                isCounted ? Callgrind.count { route(db) } : route(db)
            }
            try storage.commitNow(1) { _, tx in
                unsafeDatabase = tx.database
                try tx.execute("UPDATE people SET city = 'new ' || id, age = age + 1, score = score + 1")
            }
            withExtendedLifetime(observation) {}
        }
        try update(isCounted: false)
        try update(isCounted: true)
        guard router.counters.changes >= 2 * count, router.counters.fallbacks == 0 else {
            throw HotPathError("Other changes were routed.")
        }
    }

    /// Equalities, most of which no row meets. The tree of ranges has another shape each time, so they would be counted differently.
    private static func router(of storage: Storage, _ subscriptions: Int, meeting prefix: String) throws -> Router {
        let router = Router()
        try storage.engine.withWriterNow { writer, _ in
            guard let entity = writer.catalog.entity(named: "people") else { throw HotPathError("There is no entity.") }
            let layout = RowLayout(entity, in: writer.database)
            router.add(layout)
            for number in 0..<subscriptions {
                let predicate: RowPredicate =
                    number % 2 == 0
                    ? .comparison(column: "city", .equal, .value(.text("\(prefix) \(number)")))
                    : .comparison(column: "score", .equal, .value(.real(Double(number) + 0.0625)))
                _ = try router.register(layout.entity, where: predicate, affecting: layout.mask(of: ["name", "age"]))
            }
        }
        return router
    }

    static let savesPastLists = HotPath(
        "save-past", operations: 200, "one entity after another saved beside 10,000 live lists that they don't concern"
    ) { folder, count in
        let storage = try folder.store { $0.autoSchema(HotPathRowRecord.self) }
        var lists: [LiveSequence<ListDifference<HotPathRow>>.AsyncIterator] = []
        for number in 0..<10_000 {
            let city = "another \(number)"
            lists.append(
                storage.query(HotPathRow.self).where { $0.city == city }.live().differences.makeAsyncIterator())
            guard try await lists[number].next() != nil else { throw HotPathError("A list ended.") }
        }
        func save(from first: Int) async throws {
            for id in first..<first + count { try await storage.save(HotPathRow(id)) }
        }
        try await save(from: 0)
        try await Callgrind.count { try await save(from: count) }
        withExtendedLifetime(lists) {}
    }

    static let liveList = HotPath(
        "live-list", operations: 100, "a live list of 20 rows taken from one commit to the next, the commit included"
    ) { folder, count in
        let storage = try folder.store { $0.autoSchema(HotPathRowRecord.self) }
        try storage.commitNow(1) { _, tx in try tx.save((0..<5_000).map { HotPathRow($0) }) }
        let list = storage.query(HotPathRow.self).where { $0.city == "city 7" }.orderBy(\.id).limit(20).live()
        var updates = list.differences.makeAsyncIterator()
        _ = try await updates.next()
        func step(_ version: Int) async throws {
            for number in 0..<count {
                try await storage.save(HotPathRow(7 + 53 * (number % 10), version: version + number))
                guard try await updates.next() != nil else { throw HotPathError("The list ended.") }
            }
        }
        try await step(1)
        try await Callgrind.count { try await step(2) }
    }
}
