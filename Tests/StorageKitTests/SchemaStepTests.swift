import Foundation
import GRDB
import StorageEntities
import StorageHistory
import StorageKit
import StorageMaintenance
import StorageTesting
import TestSupport
import Testing

/// Declared changes fit every store of an earlier version, with the rows and the history that it has.
@Suite struct SchemaStepTests: SchemaVersionSuite {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    // MARK: Skipped versions

    enum Plain {
        @StorageEntity(table: "users") struct User { var id: String }
    }
    enum Skipping {
        @StorageEntity(table: "users") struct User {
            var id: String
            var email: String
            var age: Int
        }
        @StorageEntity(table: "pages") struct Page { var id: String }
    }

    @Test("A store that skips the versions that added and changed a column opens")
    func skippedVersions() async throws {
        try await fill(Plain.User(id: "a"))
        func declare(_ schema: inout Schema) {
            schema.renameColumn("mail", to: "address", in: "users")
            schema.renameColumn("address", to: "email", in: "users")
            schema.convertColumn("age", of: "users", to: Int.self) { _ in 1 }
            schema.renameColumn("fax", to: "phone", in: "users")
            schema.dropColumn("phone", from: "users")
            schema.renameEntity("notes", to: "pages")
            schema.autoSchema(Skipping.UserRecord.self, Skipping.PageRecord.self)
        }
        let storage = try open(declare)
        #expect(try await storage.all(Skipping.User.self) == [Skipping.User(id: "a", email: "", age: 0)])
        #expect(try await storage.count(Skipping.Page.self) == 0)
        #expect(try await storage.verify().isSound)
        try await storage.close()
        #expect(try StorageKit.plan(at: url) { declare(&$0) }.isEmpty)
    }

    @Test("A change of a column that no step adds is refused")
    func misspeltColumns() async throws {
        try await fill(Plain.User(id: "a"))
        let renamed = refusal {
            $0.renameColumn("mial", to: "email", in: "users")
            $0.autoSchema(Plain.UserRecord.self)
        }
        #expect(renamed?.code == .schemaMismatch)
        #expect(renamed?.message.contains("\"mial\"") ?? false)
        let converted = refusal { $0.convertColumn("aeg", of: "users", to: Int.self) { _ in 1 } }
        #expect(converted?.code == .schemaMismatch)
        #expect(converted?.message.contains("\"aeg\"") ?? false)
        // Nothing was recorded as done.
        try await open { $0.autoSchema(Plain.UserRecord.self) }.close()
    }

    // MARK: Embedded values

    enum Short {
        struct Address: Embeddable {
            var street: String?
            var city: String
        }
        @StorageEntity(table: "users") struct User {
            var id: String
            @StorageEmbedded var home: Address?
        }
    }
    enum Long {
        struct Address: Embeddable {
            var street: String?
            var city: String
            var country: String
            var floor: Int
            var note: String?
        }
        @StorageEntity(table: "users") struct User {
            var id: String
            @StorageEmbedded var home: Address?
        }
    }
    enum Keyed {
        struct Address: Embeddable {
            var street: String?
            var city: String
            var token: UUID
        }
        @StorageEntity(table: "users") struct User {
            var id: String
            @StorageEmbedded var home: Address?
        }
    }

    @Test("A required property that an optional embedded value gets has a value in earlier rows and versions")
    func propertyOfEmbeddedValue() async throws {
        let before = try await fill(
            Short.User(id: "a", home: Short.Address(street: nil, city: "Rome")), Short.User(id: "b", home: nil))
        let storage = try open { $0.autoSchema(Long.UserRecord.self) }
        let users = [
            Long.User(id: "a", home: Long.Address(street: nil, city: "Rome", country: "", floor: 0, note: nil)),
            Long.User(id: "b", home: nil),
        ]
        func check() async throws {
            #expect(try await storage.all(Long.User.self) == users)
            let filled = try await storage.read {
                try String.fetchAll($0, sql: "SELECT id FROM users WHERE home_country = '' AND home_floor = 0")
            }
            #expect(filled == ["a"])
            #expect(try await storage.verify().isSound)
        }
        try await check()
        try await storage.rebuild()
        try await check()
        let past = try await storage.asOf(.position(before))
        #expect(try await past.all(Long.User.self) == users)
        let versions = try await storage.history(Long.User.self, id: "a")
        #expect(versions.first?.operation == .insert)
        for version in versions { #expect(try version.entity == users[0]) }
        #expect(try await storage.history(Long.User.self, id: "b").count == 1)
        try await storage.close()
    }

    @Test("A required property without a value for earlier embedded values is refused")
    func propertyWithoutNeutralValue() async throws {
        try await fill(Short.User(id: "a", home: Short.Address(street: nil, city: "Rome")))
        let error = refusal { $0.autoSchema(Keyed.UserRecord.self) }
        #expect(error?.code == .schemaMismatch)
        #expect(error?.message.contains("\"home_token\"") ?? false)
        // A new store has no rows from before.
        try await StorageKit.inMemory { $0.autoSchema(Keyed.UserRecord.self) }.facade.close()
    }

    // MARK: Foreign keys

    enum Firm {
        @StorageEntity(table: "poets") struct Poet { var id: String }
        @StorageEntity(table: "poems") struct Poem {
            var id: String
            var poetId: String
            @StorageBelongsTo(onDelete: .cascade) var poet: Poet?
        }
    }
    enum Loose {
        @StorageEntity(table: "poets") struct Poet { var id: String }
        @StorageEntity(table: "poems") struct Poem {
            var id: String
            var poetId: String?
            @StorageBelongsTo(onDelete: .cascade) var poet: Poet?
        }
    }
    enum Orphaned {
        @StorageEntity(table: "poets") struct Poet { var id: String }
        @StorageEntity(table: "poems") struct Poem {
            var id: String
            var poetId: String?
            @StorageBelongsTo(onDelete: .setNull) var poet: Poet?
        }
    }

    private func fillPoems() async throws {
        let first = try open { $0.autoSchema(Firm.PoetRecord.self, Firm.PoemRecord.self) }
        try await first.save(Firm.Poet(id: "p"))
        try await first.save(Firm.Poem(id: "1", poetId: "p"))
        try await first.close()
    }

    @Test("A converted column keeps its foreign key")
    func foreignKeyOfConvertedColumn() async throws {
        try await fillPoems()
        let storage = try open {
            $0.convertColumn("poetId", of: "poems", to: String?.self) { $0 }
            $0.autoSchema(Loose.PoetRecord.self, Loose.PoemRecord.self)
        }
        try await storage.save(Loose.Poem(id: "2", poetId: nil))
        await #expect(throws: StorageError.self) { try await storage.save(Loose.Poem(id: "3", poetId: "gone")) }
        try await storage.rebuild()
        try await storage.delete(Loose.Poet.self, id: "p")
        #expect(try await storage.all(Loose.Poem.self).map(\.id) == ["2"])
        #expect(try await storage.verify().isSound)
        try await storage.close()
    }

    @Test("A required column isn't made of one that its foreign key makes NULL")
    func foreignKeyThatDoesNotFit() async throws {
        try await open { $0.autoSchema(Orphaned.PoetRecord.self, Orphaned.PoemRecord.self) }.close()
        let error = refusal { $0.convertColumn("poetId", of: "poems", to: String.self) { $0 } }
        #expect(error?.code == .schemaMismatch)
        #expect(error?.message.contains("\"poetId\"") ?? false)
        #expect(error?.remedy.contains("migration") ?? false)
    }

    enum Rated {
        @StorageEntity(table: "poems") struct Poem {
            var id: String
            var rating: String
        }
    }

    /// A table that a migration has created, whose column has the constraints.
    private func addRatedPoems(_ constraints: String, to schema: inout Schema) {
        schema.migration("v1 poems") { db in
            try db.execute(
                sql: """
                    CREATE TABLE poems (
                      id TEXT NOT NULL PRIMARY KEY, rating INTEGER NOT NULL \(constraints), updatedAt DATETIME NOT NULL);
                    INSERT INTO poems VALUES ('1', 7, '2026-01-01 00:00:00.000');
                    """)
        }
        schema.adopt("poems")
    }

    private func goodPoems(_ storage: Storage) async throws -> [String] {
        try await storage.read { try String.fetchAll($0, sql: "SELECT id FROM poems WHERE rating = 'gOOD'") }
    }

    @Test("A converted column keeps its collation")
    func collationOfConvertedColumn() async throws {
        try await open { addRatedPoems("COLLATE NOCASE", to: &$0) }.close()
        let storage = try open {
            addRatedPoems("COLLATE NOCASE", to: &$0)
            $0.convertColumn("rating", of: "poems", to: String.self) { _ in "Good" }
            $0.autoSchema(Rated.PoemRecord.self)
        }
        #expect(try await goodPoems(storage) == ["1"])
        try await storage.rebuild()
        #expect(try await goodPoems(storage) == ["1"])
        #expect(try await storage.verify().isSound)
        try await storage.close()
    }

    @Test(
        "A column isn't converted that has a CHECK of its own",
        arguments: [
            "CHECK (rating > 0)", "DEFAULT (1 + 1) check(rating < 10)", "CONSTRAINT \"a, b\" CHECK /* one */ (rating)",
        ])
    func checkOfConvertedColumn(_ constraints: String) async throws {
        try await open { addRatedPoems(constraints, to: &$0) }.close()
        let error = refusal {
            addRatedPoems(constraints, to: &$0)
            $0.convertColumn("rating", of: "poems", to: String.self) { _ in "Good" }
        }
        #expect(error?.code == .schemaMismatch)
        #expect(error?.message == "\"poems\".\"rating\" can't be converted, because it has a CHECK of its own.")
        #expect(error?.remedy.contains("migration") ?? false)
    }

    enum Alone {
        @StorageEntity(table: "poems") struct Poem { var id: String }
    }

    @Test("An entity that another one refers to isn't dropped")
    func droppedParent() async throws {
        try await open { $0.autoSchema(Firm.PoetRecord.self, Firm.PoemRecord.self) }.close()
        let error = refusal { $0.dropEntity("poets") }
        #expect(error?.code == .schemaMismatch, "\(String(describing: error))")
        #expect(error?.message.contains("\"poems\".\"poetId\"") ?? false)
        #expect(error?.remedy.contains("dropColumn(\"poetId\", from: \"poems\")") ?? false)
        // In any order: foreign keys don't act meanwhile.
        let storage = try open {
            $0.dropEntity("poets")
            $0.dropColumn("poetId", from: "poems")
            $0.autoSchema(Alone.PoemRecord.self)
        }
        try await storage.save(Alone.Poem(id: "2"))
        #expect(try await storage.verify().isSound)
        try await storage.close()
    }

    // MARK: Conversions

    enum Priced {
        @StorageEntity(table: "goods") struct Good {
            var id: String
            var price: Int
            var size: String
        }
    }
    enum Measured {
        @StorageEntity(table: "goods") struct Good {
            var id: String
            var price: Int
            var size: Int
        }
    }

    @discardableResult
    private func fillGoods() async throws -> Int64 { try await fill(Priced.Good(id: "a", price: 3, size: "41")) }

    @Test("A conversion that keeps the SQL type runs once, and reads the past")
    func conversionWithinType() async throws {
        let before = try await fillGoods()
        for _ in 0..<2 {
            let storage = try open {
                $0.convertColumn("price", of: "goods", to: Int.self, id: "cents") { old in
                    guard case .integer(let euros) = old else { return 0 }
                    return .integer(euros * 100)
                }
                $0.autoSchema(Priced.GoodRecord.self)
            }
            #expect(try await storage.get(Priced.Good.self, id: "a")?.price == 300)
            let past = try await storage.asOf(.position(before))
            #expect(try await past.get(Priced.Good.self, id: "a")?.price == 300)
            let recorded = try await storage.asOf(.position(before), schema: .asRecorded)
            #expect(try await recorded.get(Priced.Good.self, id: "a")?.price == 3)
            let versions = try await storage.history(Priced.Good.self, id: "a")
            #expect(versions.map(\.operation) == [.insert, .update])
            for version in versions { #expect(try version.entity?.price == 300) }
            #expect(try await storage.verify().isSound)
            try await storage.close()
        }
    }

    /// It may be in a table that was imported in its current form.
    @Test("A column that has the type already is converted only under an id")
    func convertedColumn() async throws {
        try await fillGoods()
        let storage = try open {
            $0.convertColumn("price", of: "goods", to: Int.self) { _ in 0 }
            $0.autoSchema(Priced.GoodRecord.self)
        }
        #expect(try await storage.get(Priced.Good.self, id: "a")?.price == 3)
        try await storage.close()
    }

    /// SQLite would make a number of the text, and the versions of before would hold the text.
    @Test("A conversion that returns a value of another type is refused")
    func valueOfAnotherType() async throws {
        try await fillGoods()
        let error = refusal {
            $0.convertColumn("size", of: "goods", to: Int.self) { $0 }
            $0.autoSchema(Measured.GoodRecord.self)
        }
        #expect(error?.code == .migrationFailed)
        #expect(error?.message.contains("\"41\"") ?? false)
        let storage = try open {
            $0.convertColumn("size", of: "goods", to: Int.self) { old in
                guard case .text(let text) = old, let size = Int64(text) else { return 0 }
                return .integer(size)
            }
            $0.autoSchema(Measured.GoodRecord.self)
        }
        for version in try await storage.history(Measured.Good.self, id: "a") {
            #expect(try version.entity?.size == 41)
        }
        try await storage.close()
    }

    // MARK: Names

    enum Camel {
        @StorageEntity(table: "accounts") struct Account {
            var id: String
            var userName: String
        }
    }
    enum Lower {
        @StorageEntity(table: "accounts") struct Account {
            var id: String
            var username: String
        }
    }

    private func fillAccounts() async throws { try await fill(Camel.Account(id: "a", userName: "anna")) }

    @Test("A column is renamed by case only")
    func renameByCase() async throws {
        try await fillAccounts()
        func declare(_ schema: inout Schema) {
            schema.renameColumn("userName", to: "username", in: "accounts")
            schema.autoSchema(Lower.AccountRecord.self)
        }
        let plan = try StorageKit.plan(at: url) { declare(&$0) }
        #expect(plan.description.contains("rename column \"accounts\".\"userName\" to \"username\""))
        let storage = try open(declare)
        try await storage.save(Lower.Account(id: "b", username: "ben"))
        #expect(try await storage.all(Lower.Account.self).map(\.username) == ["anna", "ben"])
        for version in try await storage.history(Lower.Account.self, id: "a") {
            #expect(try version.entity?.username == "anna")
        }
        try await storage.rebuild()
        #expect(try await storage.verify().isSound)
        try await storage.close()
        #expect(try StorageKit.plan(at: url) { declare(&$0) }.isEmpty)
    }

    @Test("A recreated table may write a column's name in another case")
    func recreatedTableInAnotherCase() async throws {
        try await fillAccounts()
        func declare(_ schema: inout Schema) {
            schema.migration("unique") { db in
                try db.execute(
                    sql: """
                        CREATE TABLE accounts_new (
                            id TEXT PRIMARY KEY NOT NULL, username TEXT NOT NULL UNIQUE, updatedAt DATETIME NOT NULL);
                        INSERT INTO accounts_new(id, username, updatedAt) SELECT id, userName, updatedAt FROM accounts;
                        DROP TABLE accounts;
                        ALTER TABLE accounts_new RENAME TO accounts;
                        """)
            }
            schema.autoSchema(Camel.AccountRecord.self)
        }
        for _ in 0..<2 {
            let storage = try open(declare)
            #expect(try await storage.get(Camel.Account.self, id: "a")?.userName == "anna")
            #expect(try await storage.verify().isSound)
            try await storage.close()
        }
    }

    // MARK: Adopted tables

    private func adoptParts(_ schema: inout Schema) {
        schema.migration("parts") { try $0.execute(sql: "CREATE TABLE parts(id INTEGER PRIMARY KEY, a TEXT)") }
        schema.adopt("parts")
    }

    /// Each case is what a later version of the program adds.
    @Test("An adopted table may be renamed or dropped later", arguments: ["drop", "rename", "SQL"])
    func adoptedTableLater(change: String) async throws {
        let first = try open(adoptParts)
        try await first.write { try $0.execute("INSERT INTO parts(id, a) VALUES (1, 'one')") }
        try await first.close()
        for _ in 0..<3 {
            let storage = try open { schema in
                adoptParts(&schema)
                switch change {
                case "drop": schema.dropEntity("parts")
                case "rename": schema.renameEntity("parts", to: "pieces")
                default: schema.migration("pieces") { try $0.execute(sql: "ALTER TABLE parts RENAME TO pieces") }
                }
            }
            let tables = try await storage.read { db in
                try String.fetchAll(db, sql: "SELECT name FROM sqlite_schema WHERE name IN ('parts', 'pieces')")
            }
            #expect(tables == (change == "drop" ? [] : ["pieces"]))
            #expect(try await storage.verify().isSound)
            try await storage.close()
        }
    }

    @Test("A table that is created again under an adopted table's name is adopted too", arguments: [true, false])
    func adoptedAgain(isNewStore: Bool) async throws {
        if !isNewStore { try await open(adoptParts).close() }
        func declare(_ schema: inout Schema) {
            adoptParts(&schema)
            schema.dropEntity("parts")
            schema.migration("parts 2") { db in
                try db.execute(
                    sql: "CREATE TABLE parts(id INTEGER PRIMARY KEY, z REAL); INSERT INTO parts VALUES (1, 2.5)")
            }
            schema.adopt("parts")
        }
        for _ in 0..<2 {
            let storage = try open(declare)
            let events = try await storage.log.events(LogQuery(tables: ["parts"])).reduce(0) { count, _ in count + 1 }
            #expect(events == 1)
            #expect(try await storage.verify().isSound)
            try await storage.close()
        }
        #expect(try StorageKit.plan(at: url) { declare(&$0) }.isEmpty)
    }

    @Test("A table that never was can't be adopted")
    func adoptingNothing() async throws {
        try await open(adoptParts).close()
        let error = refusal { schema in
            adoptParts(&schema)
            schema.adopt("prats")
        }
        #expect(error?.message.contains("There is no table \"prats\"") ?? false)
    }

    // MARK: Repeated changes

    enum Nicknamed {
        @StorageEntity(table: "users") struct User {
            var id: String
            var nick: String?
        }
    }

    @Test("A column that was added again is dropped again under an id")
    func repeatedDrop() async throws {
        var storage = try open { $0.autoSchema(Nicknamed.UserRecord.self) }
        try await storage.save(Nicknamed.User(id: "a", nick: "x"))
        try await storage.close()
        try await open {
            $0.dropColumn("nick", from: "users")
            $0.autoSchema(Plain.UserRecord.self)
        }.close()
        storage = try open {
            $0.dropColumn("nick", from: "users")
            $0.autoSchema(Nicknamed.UserRecord.self)
        }
        #expect(try await storage.get(Nicknamed.User.self, id: "a")?.nick == nil)
        try await storage.save(Nicknamed.User(id: "a", nick: "y"))
        try await storage.close()
        let twice = refusal {
            $0.dropColumn("nick", from: "users")
            $0.dropColumn("nick", from: "users")
        }
        #expect(twice?.code == .invalidArgument)
        #expect(twice?.remedy.contains("id:") ?? false)
        func declare(_ schema: inout Schema) {
            schema.dropColumn("nick", from: "users")
            schema.dropColumn("nick", from: "users", id: "2026-05-01_nick")
            schema.autoSchema(Plain.UserRecord.self)
        }
        storage = try open(declare)
        let columns = try await storage.read { try $0.columns(in: "users").map(\.name) }
        #expect(!columns.contains("nick"))
        #expect(try await storage.appliedMigrations().map(\.id) == ["drop users.nick", "2026-05-01_nick"])
        try await storage.close()
        #expect(try StorageKit.plan(at: url) { declare(&$0) }.isEmpty)
    }

    @Test("A conversion that is repeated under an id reads the past by both")
    func repeatedConversion() async throws {
        try await fillGoods()
        func times(_ factor: Int64) -> @Sendable (StorageValue) throws -> StorageValue {
            return { old in
                guard case .integer(let number) = old else { return 0 }
                return .integer(number * factor)
            }
        }
        let storage = try open {
            $0.convertColumn("price", of: "goods", to: Int.self, id: "hundredths", times(100))
            $0.convertColumn("price", of: "goods", to: Int.self, id: "tenths", times(10))
            $0.autoSchema(Priced.GoodRecord.self)
        }
        let versions = try await storage.history(Priced.Good.self, id: "a")
        #expect(versions.map(\.operation) == [.insert, .update, .update])
        for version in versions { #expect(try version.entity?.price == 3_000) }
        try await storage.close()
    }
}
