import Foundation
import GRDB
import StorageKit
import StorageSQLiteClient
import StorageSQLiteNIO

/// `SQLiteClient` on both engines, beside what GRDB and C take for the same.
enum ClientContenders {
    static func saveMany(_ people: [Person], rowsPerTransaction: Int) -> [Contender] {
        let parts = stride(from: 0, to: people.count, by: rowsPerTransaction).map {
            Array(people[$0..<min($0 + rowsPerTransaction, people.count)])
        }
        let rows = CPeople(people)
        return [
            CContenders.contender(ContenderName.cUpsert) {
                try $0.upsert(rows, rowsPerTransaction: rowsPerTransaction)
            },
            GRDBContenders.contender(ContenderName.cachedStatement) { pool in
                for part in parts { try await GRDBStore.upsertWithCachedStatement(part, into: pool) }
            },
        ]
            + engines([]) { client in
                for part in parts {
                    try await client.write { db in
                        for person in part { try db.execute(GRDBStore.upsertSQL, person.arguments) }
                    }
                }
                return []
            }
    }

    static func lookUp(_ keys: [String], among people: [Person]) -> [Contender] {
        [CContenders.lookUp(keys, among: people)]
            + GRDBContenders.lookUp(keys, among: people).filter { $0.name == ContenderName.cachedStatement }
            + engines(people) { client in
                for key in keys { try await client.find(key) }
                return []
            }
    }

    static func readAll(_ people: [Person]) -> [Contender] {
        CContenders.readAll(people)
            + GRDBContenders.readAll(people).filter { $0.name == ContenderName.handwrittenFetch }
            + engines(people) { client in
                let read = try await client.read { db in
                    try db.fetchAll("SELECT * FROM person ORDER BY id") { try Person($0) }
                }
                guard read.count == people.count else {
                    throw BenchmarkError("There are \(read.count) of \(people.count) rows.")
                }
                return []
            }
    }

    /// - Parameter tasks: How many look up at once, each its part of the keys.
    static func lookUpConcurrently(_ keys: [String], tasks: Int, among people: [Person]) -> [Contender] {
        [
            CContenders.lookUpConcurrently(keys, clients: tasks, among: people),
            GRDBContenders.reader(ContenderName.cachedStatement, people, finding: keys.count) { pool in
                try await withThrowingTaskGroup(of: Int.self) { group in
                    for task in 0..<tasks {
                        group.addTask {
                            var found = 0
                            for key in keys[part: task, of: tasks] {
                                let person = try await pool.read { db in
                                    try HandwrittenPerson.fetchOne(
                                        db.cachedStatement(sql: GRDBContenders.selectByKeySQL), arguments: [key])
                                }
                                if person?.person.id == key { found += 1 }
                            }
                            return found
                        }
                    }
                    return try await group.reduce(0, +)
                }
            },
        ]
            + engines(people) { client in
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for task in 0..<tasks {
                        group.addTask { for key in keys[part: task, of: tasks] { try await client.find(key) } }
                    }
                    try await group.waitForAll()
                }
                return []
            }
    }

    /// Commits of one row, each followed by its report.
    static func observe(_ count: Int, among people: [Person]) -> [Contender] {
        let changed = people.prefix(count)
        return [
            CContenders.observe(count, among: people),
            Contender(
                ContenderName.regionObservation,
                prepare: { workspace in
                    let pool = try GRDBStore.create(workspace.path("grdb.sqlite"))
                    try await GRDBStore.upsertWithCachedStatement(people, into: pool)
                    return pool
                },
                run: { pool in
                    // The cheapest that GRDB can be asked for: nothing is fetched.
                    let (reports, continuation) = AsyncStream.makeStream(of: Void.self)
                    let observation = DatabaseRegionObservation(tracking: GRDB.Table("person"))
                        .start(
                            in: pool, onError: { _ in continuation.finish() }, onChange: { _ in continuation.yield() })
                    var reader = reports.makeAsyncIterator()
                    var delays: [Duration] = []
                    for person in changed {
                        try await pool.write { db in
                            try db.execute(
                                sql: "UPDATE person SET age = age + 1 WHERE id = ?", arguments: [person.id])
                        }
                        let committed = ContinuousClock.now
                        await reader.next()
                        delays.append(ContinuousClock.now - committed)
                    }
                    observation.cancel()
                    return ReportMetric.metrics(of: delays)
                }, cleanup: { try $0.close() }),
        ]
            + engines(people) { client in
                var reader = try await client.observeTables(["person"]).makeAsyncIterator()
                var delays: [Duration] = []
                for person in changed {
                    try await client.write { db in
                        _ = try db.execute("UPDATE person SET age = age + 1 WHERE id = ?", [person.id])
                    }
                    let committed = ContinuousClock.now
                    _ = try await reader.next()
                    delays.append(ContinuousClock.now - committed)
                }
                return ReportMetric.metrics(of: delays)
            }
    }

    /// - Parameter people: Rows that are there before the time begins.
    private static func engines(
        _ people: [Person], run: @escaping (SQLiteClient) async throws -> [Metric]
    ) -> [Contender] {
        [
            Contender(
                ContenderName.clientOfGRDB,
                prepare: { workspace in
                    let pool = try GRDBStore.create(workspace.path("grdb.sqlite"))
                    try await GRDBStore.upsertWithCachedStatement(people, into: pool)
                    return pool
                }, run: { (pool: DatabasePool) in try await run(.grdb(pool)) }, cleanup: { try $0.close() }),
            Contender(
                ContenderName.clientOfNIO,
                prepare: { workspace in
                    // The same table, made by the same code.
                    let path = workspace.path("nio.sqlite")
                    let made = try GRDBStore.create(path)
                    try await GRDBStore.upsertWithCachedStatement(people, into: made)
                    try made.close()
                    let pool = try await SQLiteConnectionPool.open(storage: .file(path: path))
                    try await pool.write { (db: SQLiteTransaction) in
                        _ = try db.execute("PRAGMA cache_size = -24000")
                        _ = try db.execute("PRAGMA wal_autocheckpoint = 4000")
                        _ = try db.execute("PRAGMA secure_delete = OFF")
                    }
                    return pool
                }, run: { try await run(.nio($0)) }, cleanup: { try await $0.close() }),
        ]
    }
}

/// How long after a commit has returned its report is there; next to nothing where it was there before.
enum ReportMetric {
    static let median = "commit to report µs, p50"
    static let late = "commit to report µs, p99"

    static func metrics(of delays: [Duration]) -> [Metric] {
        [
            Metric(name: median, value: delays.microseconds(percentile: 50)),
            Metric(name: late, value: delays.microseconds(percentile: 99)),
        ]
    }
}

extension SQLiteClient {
    fileprivate func find(_ key: String) async throws {
        let person = try await read { db -> Person? in
            var person: Person?
            try db.forEachRow(GRDBContenders.selectByKeySQL, [key]) { row in
                person = try Person(row)
                return false
            }
            return person
        }
        guard person?.id == key else { throw BenchmarkError("There is no row \(key).") }
    }
}

extension Person {
    fileprivate init(_ row: SQLiteRow) throws {
        self.init(
            id: try row.value(String.self, at: 0), name: try row.value(String.self, at: 1),
            email: try row.value(String.self, at: 2), age: try row.value(Int64.self, at: 3),
            city: try row.value(String.self, at: 4), active: try row.value(Bool.self, at: 5),
            score: try row.value(Double.self, at: 6), updatedAt: try row.value(Int64.self, at: 7))
    }

    fileprivate var arguments: [any StorageColumnValue] {
        [id, name, email, age, city, active, score, updatedAt]
    }
}

extension [String] {
    fileprivate subscript(part part: Int, of count: Int) -> ArraySlice<String> {
        self[part * self.count / count..<(part + 1) * self.count / count]
    }
}
