import StorageEntities
import StorageKit
import StorageMaintenance
import StorageTesting
import TestSupport
import Testing

/// The reference's chapter on core types: entities, records written by hand, schemas of tables, errors.
@Suite struct ReferenceCoreTypesTests {
    // MARK: Entities and records

    /// An entity whose record is written by hand, as the macro would write it, with a name of its own for the table.
    struct Coin: StorageKitEntity {
        var id: Int
        var country: String
        var found: Date?
    }

    struct CoinRow: StorageKitEntityRecord, Codable {
        typealias E = Coin
        static let databaseTableName = "coins"

        var id: Int
        var country: String
        var found: Date?
        var updatedAt: Date

        static var schemaColumns: [ColumnSchema] {
            [
                ColumnSchema(name: "id", type: "INTEGER", notNull: true, primaryKey: true),
                ColumnSchema(name: "country", type: "TEXT", notNull: true, defaultValue: "'unknown'"),
                ColumnSchema(name: "found", type: "DATETIME"),
                ColumnSchema(name: "updatedAt", type: "DATETIME", notNull: true),
            ]
        }

        func asEntity() -> Coin { Coin(id: id, country: country, found: found) }

        static func from(_ entity: Coin, now: Date) -> CoinRow {
            CoinRow(id: entity.id, country: entity.country, found: entity.found, updatedAt: now)
        }

        static func key(of id: Int) -> StorageValue { id.storageValue }

        func write(to row: RowWriter) throws {
            try row.write(id, at: 1)
            try row.write(country, at: 2)
            try row.write(found, at: 3)
            try row.write(updatedAt, at: 4)
        }

        init(reading row: RowReader) throws {
            id = try row.read(Int.self, at: 0)
            country = try row.read(String.self, at: 1)
            found = try row.read(Date?.self, at: 2)
            updatedAt = try row.read(Date.self, at: 3)
        }

        init(id: Int, country: String, found: Date?, updatedAt: Date) {
            self.id = id
            self.country = country
            self.found = found
            self.updatedAt = updatedAt
        }
    }

    @Test("A hand-written record is as good as a generated one")
    func handWrittenRecord() async throws {
        let context = try StorageKit.inMemory { $0.autoSchema(CoinRow.self) }
        let storage = context.facade
        let coins = [
            Coin(id: 2, country: "FI", found: nil), Coin(id: 1, country: "UA", found: Date(timeIntervalSince1970: 0.5)),
        ]
        try await storage.save(coins)
        #expect(try await storage.all(Coin.self) == coins.reversed())
        #expect(try await storage.save(coins[0]).commit == nil)
        // Its columns are named as text.
        let found = try await storage.query(Coin.self).where { _ in Column<String>("country") == "UA" }.fetch()
        #expect(found == [coins[1]])
        let repository = context.makeRepository(Coin.self, record: CoinRow.self)
        #expect(try await repository.get(id: 2) == coins[0])
        try await storage.delete(coins[0])
        #expect(try await storage.logText() == ["insert coins/2", "insert coins/1", "delete coins/2"])
        #expect(try await storage.verify().isSound)
    }

    /// A record of GRDB as the reference prints it: coded by name, without a word for StorageKit.
    struct Token: StorageKitEntity {
        var id: UUID
        var word: String
        var weight: Double?
        var minted: Date
    }

    struct TokenRow: StorageKitEntityRecord, Codable {
        typealias E = Token
        static let databaseTableName = "tokens"

        var id: UUID
        var word: String
        var weight: Double?
        var minted: Date
        var updatedAt: Date

        func asEntity() -> Token { Token(id: id, word: word, weight: weight, minted: minted) }

        static func from(_ e: Token, now: Date) -> TokenRow {
            TokenRow(id: e.id, word: e.word, weight: e.weight, minted: e.minted, updatedAt: now)
        }

        static var schemaColumns: [ColumnSchema] {
            [
                ColumnSchema(name: "id", type: "BLOB", notNull: true, primaryKey: true),
                ColumnSchema(name: "word", type: "TEXT", notNull: true),
                ColumnSchema(name: "weight", type: "REAL"),
                ColumnSchema(name: "minted", type: "DATETIME", notNull: true),
                ColumnSchema(name: "updatedAt", type: "DATETIME", notNull: true),
            ]
        }
    }

    @Test("A record of GRDB can be used")
    func handWrittenGRDBRecord() async throws {
        let storage = try StorageKit.inMemory { $0.autoSchema(TokenRow.self) }.facade
        let tokens = [
            Token(id: UUID(), word: "a", weight: nil, minted: Date(timeIntervalSince1970: 1_000_000.125)),
            Token(id: UUID(), word: "b", weight: 2.5, minted: Date(timeIntervalSince1970: 0)),
        ]
        try await storage.save(tokens)
        #expect(try await storage.save(tokens).commit == nil)
        #expect(try await storage.get(Token.self, id: tokens[0].id) == tokens[0])
        #expect(try await storage.all(Token.self, orderBy: "word") == tokens)
        let heavy = try await storage.query(Token.self).where(Column<Double>("weight") > 2).fetch()
        #expect(heavy == [tokens[1]])
        try await storage.delete(tokens[1])
        #expect(try await storage.count(Token.self) == 1)
        #expect(try await storage.history(Token.self, id: tokens[1].id).map { try $0.entity?.word } == ["b", nil])
        #expect(try await storage.verify().isSound)
    }

    @StorageEntity
    struct Stamp {
        var id: UUID
        var face: String
    }

    @Test("An entity is Codable and Equatable and knows its record")
    func entityConformances() throws {
        func table<E: RegisteredEntity>(of type: E.Type) -> String { E.Record.databaseTableName }
        #expect(table(of: Stamp.self) == "stamps")
        #expect(table(of: Coin.self) == "coins")
        let stamp = Stamp(id: UUID(), face: "5 ₴")
        let copy = try JSONDecoder().decode(Stamp.self, from: try JSONEncoder().encode(stamp))
        #expect(copy == stamp)
        let ids: Set<Stamp.Id> = [stamp.id]
        #expect(ids.contains(copy.id))
    }

    // MARK: Schemas of tables

    @Test("Columns and tables are described by value")
    func schemaDescriptions() {
        let column = ColumnSchema(name: "email", type: "TEXT", notNull: true, primaryKey: false)
        #expect(column.name == "email")
        #expect(column.type == "TEXT")
        #expect(column.notNull)
        #expect(!column.primaryKey)
        #expect(column.defaultValue == nil)
        #expect(column != ColumnSchema(name: "email", type: "TEXT"))
        let table = TableSchema(
            name: "users", columns: [ColumnSchema(name: "id", type: "TEXT", primaryKey: true), column])
        #expect(table.name == "users")
        #expect(table.columns.count == 2)
        #expect(table.column(named: "id")?.primaryKey == true)
        #expect(table.column(named: "none") == nil)
        #expect(table == TableSchema(name: "users", columns: table.columns))
    }

    // MARK: Errors

    @Test("Programs switch over an error's code, people read the message")
    func errorCodesAndMessages() async throws {
        let storage = try StorageKit.inMemory { $0.autoSchema(StampRecord.self) }.facade
        do {
            try await storage.save(Stamp(id: UUID(), face: "none"), expecting: .exists)
            Issue.record("an entity that isn't there was expected")
        } catch let error as StorageError {
            switch error.code {
            case .conflict: #expect(error.message.contains("stamps"))
            default: Issue.record("\(error)")
            }
            let general: any Error = error
            #expect(general.localizedDescription == error.message)
            #expect(error.recoverySuggestion == error.remedy)
            #expect(error.description.contains(error.remedy))
        }
    }

    /// Each case of the reference's error, caused, and the code that corresponds to it here.
    @Test("Every case of the reference's error has its code")
    func referenceErrorCodes() async throws {
        let folder = try TemporaryFolder()
        let missing = URL(fileURLWithPath: folder.path("none.sqlite"))
        let reading = StorageConfig(isReadOnly: true)
        func code(_ body: () async throws -> Void) async -> StorageError.Code? {
            do { try await body() } catch { return (error as? StorageError)?.code }
            return nil
        }
        // databaseNotFound
        #expect(await code { _ = try StorageKit.start(at: missing, config: reading) } == .notFound)
        // migrationFailed
        let failing = await code {
            _ = try StorageKit.inMemory { $0.migration("2026-01-15_x") { try $0.execute(sql: "nonsense") } }
        }
        #expect(failing == .migrationFailed)
        // invalidTableName, invalidConfiguration
        #expect(await code { _ = try StorageKit.inMemory { $0.addKVCache(tableName: "sqlite_x") } } == .invalidName)
        let twice = await code {
            _ = try StorageKit.inMemory { schema in
                schema.migration("same") { _ in }
                schema.migration("same") { _ in }
            }
        }
        #expect(twice == .invalidArgument)
        let storage = try StorageKit.inMemory { schema in
            schema.autoSchema(StampRecord.self)
            schema.addFullTextSearch(table: "stamps", columns: ["face"])
        }.facade
        // transactionFailed: by a constraint, or by SQL that can't be.
        let refused = await code {
            try await storage.write { try $0.execute("INSERT INTO stamps(id, face, updatedAt) VALUES ('x', NULL, 0)") }
        }
        #expect(refused == .conflict)
        #expect(await code { try await storage.write { try $0.execute("nonsense") } } == .database)
        // entityNotFound: reading returns nil, and a precondition throws.
        #expect(await code { _ = try await storage.get(Stamp.self, id: UUID()) } == nil)
        let insisting = await code { try await storage.save(Stamp(id: UUID(), face: ""), expecting: .exists) }
        #expect(insisting == .conflict)
        // entityEncodingFailed
        #expect(await code { try await storage.save(Stamp(id: UUID(), face: "a\0")) } == .invalidValue)
        // entityDecodingFailed
        try await storage.write {
            try $0.execute("INSERT INTO stamps(id, face, updatedAt) VALUES ('not a UUID', 'x', 0)")
        }
        #expect(await code { _ = try await storage.all(Stamp.self) } == .invalidValue)
        // queryFailed
        let unclosed = await code { _ = try await storage.search(Stamp.self, query: "\"a", syntax: .fts5) }
        #expect(unclosed == .invalidQuery)
        let unknown = await code { _ = try await storage.read { try $0.execute(sql: "SELECT 1 FROM nowhere") } }
        #expect(unknown == .database)
    }
}

extension ReferenceCoreTypesTests.Coin: RegisteredEntity {
    typealias Record = ReferenceCoreTypesTests.CoinRow
}

extension ReferenceCoreTypesTests.Token: RegisteredEntity {
    typealias Record = ReferenceCoreTypesTests.TokenRow
}
