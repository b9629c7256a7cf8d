import Foundation
import GRDB
import StorageKit
import StorageLog
import TestSupport
import Testing

/// A store with a random history, its mirror in plain SQLite, and what that held behind each commit.
final class MirroredStore {
    let folder: TemporaryFolder
    private(set) var storage: Storage
    private(set) var states: [PlainState] = []
    var generator: ChangingTables
    private let mirror: PlainMirror
    private let configuration: StorageConfig
    private var migrations: [(name: String, sql: String)] = []

    var path: String { folder.path() }
    /// What the store holds.
    var last: PlainState { states[states.count - 1] }

    init(seed: UInt64, commits: Int) async throws {
        let folder = try TemporaryFolder()
        var generator = ChangingTables(seed: seed)
        var configuration = StorageConfig()
        configuration.segmentLength = generator.random.pick([2, 8, 1_024])
        let mirror = try PlainMirror()
        try mirror.apply([.sql(ChangingTables.cards)])
        storage = try Self.open(folder.path(), configuration, [], generator.tables)
        (self.folder, self.mirror, self.generator, self.configuration) = (folder, mirror, generator, configuration)
        try note(changedRowsOnly: false)
        for round in 0..<commits {
            if round % 15 == 0 { try await reopen(withTables: round == 0 ? 2 : generator.random.below(2)) }
            if generator.random.chance(8) { try await storage.seal() }
            try await commit(seed)
        }
    }

    private static func open(
        _ path: String, _ configuration: StorageConfig, _ migrations: [(name: String, sql: String)],
        _ tables: [PlainTable]
    ) throws -> Storage {
        try StorageKit.start(at: URL(fileURLWithPath: path), config: configuration) { schema in
            schema.autoSchema(CardRecord.self)
            for (name, sql) in migrations { schema.migration(name) { try $0.execute(sql: sql) } }
            for table in tables where table.id != 0 { schema.adopt(table.name) }
        }.facade
    }

    private func reopen(withTables count: Int) async throws {
        try await storage.close()
        for _ in 0..<count {
            let sql = generator.makeTable()
            migrations.append(("\(migrations.count)", sql))
            try mirror.apply([.sql(sql)])
        }
        storage = try Self.open(path, configuration, migrations, generator.tables)
        try note(changedRowsOnly: false)
    }

    private func commit(_ seed: UInt64) async throws {
        let before = generator
        let commit = try generator.commit()
        let steps = commit.steps
        var refusal: DatabaseError?
        do {
            try mirror.apply(steps)
        } catch let error as DatabaseError {
            refusal = error
        }
        do {
            try await storage.write { tx in
                for step in steps {
                    switch step {
                    case .sql(let sql): try tx.execute(sql)
                    case .save(let card): try tx.save(card)
                    case .delete(let id): try tx.delete(Card.self, id: id)
                    }
                }
            }
            #expect(refusal == nil, "seed \(seed): only SQLite refuses \(steps)")
        } catch {
            if refusal == nil { Issue.record("seed \(seed): only the store refuses \(steps): \(error)") }
        }
        if refusal != nil { (generator.tables, generator.gone) = (before.tables, before.gone) }
        try note(changedRowsOnly: !commit.changesSchema)
    }

    private func note(changedRowsOnly: Bool) throws {
        let commit = storage.engine.committed.commit
        let state = PlainState(
            position: storage.head, commit: commit, tables: try mirror.contents(of: generator.tables),
            changedRowsOnly: changedRowsOnly && commit == (states.last?.commit ?? 0) + 1)
        if states.last?.position == state.position { states.removeLast() }
        states.append(state)
    }

    // MARK: The present

    /// What the store's tables hold.
    func present() async throws -> NamedRows {
        let tables = last.tables
        return try await storage.read { db in try Self.read(tables, in: db) }
    }

    static func read(_ tables: [PlainTable], in db: Database) throws -> NamedRows {
        try PlainState(
            position: 0, commit: 0,
            tables: tables.map { table in
                var table = table
                table.rows = try table.rows(in: db)
                return table
            }, changedRowsOnly: false
        ).named
    }

    /// The names that an export gives to what is gone, where others have taken its own.
    static func names(ofGone gone: [String], beside live: [String]) -> [String] {
        var taken = Set(live)
        return gone.map { name in
            var name = name
            while !taken.insert(name).inserted { name += " (gone)" }
            return name
        }
    }

    /// A store with the tables of this one, empty, and those columns and tables that are gone.
    func emptyCopy() throws -> Storage {
        var sql: [(name: String, sql: String)] = []
        for table in last.tables {
            let gone = table.gone.sorted { $0.id < $1.id }.map(\.name)
            let names = Self.names(ofGone: gone, beside: table.columns.map(\.name))
            sql.append((table.name, table.sql))
            for name in names {
                sql[sql.count - 1].sql += "; ALTER TABLE \(quoted(table.name)) ADD COLUMN \(quoted(name))"
            }
        }
        let gone = generator.gone.sorted { $0.id < $1.id }
        for (name, table) in zip(Self.names(ofGone: gone.map(\.name), beside: sql.map(\.name)), gone) {
            let lost = Self.names(
                ofGone: table.gone.sorted { $0.id < $1.id }.map(\.name), beside: table.columns.map(\.name))
            let keys = table.keys.map { quoted($0.name) }
            let columns = keys.map { "\($0) NOT NULL" } + (table.columns.map(\.name) + lost).map(quoted)
            let parts = (columns + ["PRIMARY KEY (\(keys.joined(separator: ", ")))"]).joined(separator: ", ")
            sql.append((name, "CREATE TABLE \(quoted(name))(\(parts))"))
        }
        let tables = sql
        return try StorageKit.start(at: URL(fileURLWithPath: folder.path("copy.sqlite")), config: configuration) {
            schema in
            for (name, sql) in tables {
                schema.migration(name) { try $0.execute(sql: sql) }
                schema.adopt(name)
            }
        }.facade
    }
}
