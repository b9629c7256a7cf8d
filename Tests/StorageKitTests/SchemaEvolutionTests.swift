import Foundation
import GRDB
import StorageEntities
import StorageHistory
import StorageKit
import StorageLog
import StorageMaintenance
import StorageTesting
import TestSupport
import Testing

/// Schema changes lose nothing, and what would lose something is refused with the words that say it.
@Suite struct SchemaEvolutionTests: SchemaVersionSuite {
    enum V1 {
        @StorageEntity(table: "people") struct Person {
            var id: String
            var mail: String
            var age: String
            var note: String?
        }
    }
    enum V2 {
        @StorageEntity(table: "people") struct Person {
            var id: String
            var email: String
            var age: Int
            var note: String?
            var city: String
        }
    }

    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func fillFirst() async throws {
        try await fill(
            V1.Person(id: "a", mail: "a@x", age: "41", note: nil), V1.Person(id: "b", mail: "b@x", age: "7", note: "n"))
    }

    private func second(_ schema: inout Schema) {
        schema.renameColumn("mail", to: "email", in: "people")
        schema.convertColumn("age", of: "people", to: Int.self) { old in
            guard case .text(let text) = old, let age = Int64(text) else { return 0 }
            return .integer(age)
        }
        schema.autoSchema(V2.PersonRecord.self)
    }

    @StorageEntity(table: "pets") struct Pet {
        var id: String
        var name: String
    }

    @Test("A schema takes entities in place of their records")
    func entitiesInPlaceOfRecords() async throws {
        try await fillFirst()
        let storage = try open { $0.autoSchema(V1.Person.self, Pet.self) }
        try await storage.save(Pet(id: "p", name: "Pat"))
        #expect(try await storage.count(V1.Person.self) == 2)
        #expect(try await storage.get(Pet.self, id: "p")?.name == "Pat")
        try await storage.close()
    }

    @Test("Renamed, converted and added columns keep rows and history")
    func columnsEvolveWithHistory() async throws {
        try await fillFirst()
        let storage = try open { second(&$0) }
        let people = try await storage.all(V2.Person.self)
        #expect(
            people == [
                V2.Person(id: "a", email: "a@x", age: 41, note: nil, city: ""),
                V2.Person(id: "b", email: "b@x", age: 7, note: "n", city: ""),
            ])
        let history = try await storage.history(V2.Person.self, id: "a")
        #expect(history.map(\.operation) == [.insert, .update])
        #expect(try await storage.verify().isSound)
        try await storage.rebuild()
        #expect(try await storage.all(V2.Person.self) == people)
        try await storage.close()
        // Opened again, there is nothing to do.
        #expect(try StorageKit.plan(at: url) { second(&$0) }.isEmpty)
    }

    /// The values of before belong to a column that is gone: putting blanks in their place would be worse than saying so.
    @Test("A conversion isn't reverted")
    func conversionIsNotReverted() async throws {
        try await fillFirst()
        let storage = try open { second(&$0) }
        let people = try await storage.all(V2.Person.self)
        let conversion = try #require(try await storage.history(V2.Person.self, id: "a").last)
        for policy in ConflictPolicy.allCases {
            do {
                let report = try await storage.revert(conversion.commit.number, onConflict: policy)
                #expect(policy != .abort)
                #expect(report.receipt == nil)
                #expect(report.outcome.conflicts.count == 2)
            } catch let error as StorageError {
                #expect(policy == .abort)
                #expect(error.code == .conflict)
                #expect(error.message.contains("converted"))
            }
            #expect(try await storage.all(V2.Person.self) == people)
        }
        try await storage.save(V2.Person(id: "c", email: "c@x", age: 1, note: nil, city: ""))
        try await storage.undo()
        #expect(try await storage.all(V2.Person.self) == people)
        // Next would be what the rows began with, which the conversion has changed since.
        let error = await #expect(throws: StorageError.self) { try await storage.undo() }
        #expect(error?.code == .conflict)
        #expect(try await storage.all(V2.Person.self) == people)
        try await storage.close()
    }

    @Test("A plan lists everything and changes nothing")
    func planOfChanges() async throws {
        try await fillFirst()
        let bytes = try await snapshot()
        let plan = try StorageKit.plan(at: url) {
            second(&$0)
            $0.migration("2026-01-01_upper") { try $0.execute(sql: "UPDATE people SET email = upper(email)") }
        }
        #expect(
            plan.description == """
                rename people.mail to email
                  rename column "people"."mail" to "email"
                convert people.age to INTEGER NOT NULL
                  drop column "people"."age"
                  add column "people"."age" INTEGER NOT NULL
                  write "people": 2 events
                schema
                  add column "people"."city" TEXT NOT NULL
                migration 2026-01-01_upper
                  write "people": 2 events
                """)
        #expect(try await snapshot() == bytes)
    }

    private func snapshot() async throws -> [String] {
        let storage = try open { $0.autoSchema(V1.PersonRecord.self) }
        var lines = try await storage.all(V1.Person.self).map { "\($0)" }
        lines.append("\(storage.head)")
        try await storage.close()
        return lines
    }

    @Test("What would lose data silently is refused")
    func silentDataLoss() async throws {
        try await fillFirst()
        // age has another type, mail is gone while email and city are new.
        let renamed = refusal { $0.autoSchema(V2.PersonRecord.self) }
        #expect(renamed?.code == .schemaMismatch)
        #expect(renamed?.remedy.contains("renameColumn(\"mail\", to: \"email\", in: \"people\")") ?? false)
        let converted = refusal {
            $0.renameColumn("mail", to: "email", in: "people")
            $0.autoSchema(V2.PersonRecord.self)
        }
        #expect(converted?.remedy.contains("convertColumn(\"age\", of: \"people\"") ?? false)
        let missing = refusal { $0.autoSchema(Shorter.PersonRecord.self) }
        #expect(missing?.remedy.contains("dropColumn(\"age\", from: \"people\")") ?? false)
        #expect(try await snapshot().count == 3)
    }

    enum Shorter {
        @StorageEntity(table: "people") struct Person { var id: String; var mail: String }
    }

    @Test("A dropped column stays in the history")
    func droppedColumnInHistory() async throws {
        try await fillFirst()
        let storage = try open {
            $0.dropColumn("age", from: "people")
            $0.dropColumn("note", from: "people")
            $0.autoSchema(Shorter.PersonRecord.self)
        }
        #expect(try await storage.all(Shorter.Person.self).map(\.mail) == ["a@x", "b@x"])
        let first = try #require(try await storage.history(Shorter.Person.self, id: "b").first)
        #expect(first.new?["age"] == "7")
        #expect(first.new?["note"] == "n")
        try await storage.rebuild()
        #expect(try await storage.verify().isSound)
        try await storage.close()
    }

    @Test("A renamed entity keeps its history")
    func renamedEntity() async throws {
        try await fillFirst()
        let storage = try open {
            $0.renameEntity("people", to: "humans")
            $0.autoSchema(HumanRecord.self)
        }
        #expect(try await storage.get(Human.self, id: "a")?.mail == "a@x")
        #expect(try await storage.history(Human.self, id: "a").count == 1)
        try await storage.save(Human(id: "a", mail: "new", age: "1", note: nil))
        #expect(try await storage.history(Human.self, id: "a").count == 2)
        try await storage.rebuild()
        #expect(try await storage.verify().isSound)
        try await storage.close()
    }

    @Test("A new name may differ from the old one only in case")
    func renamedInCase() async throws {
        try await fillFirst()
        let both = #expect(throws: StorageError.self) {
            try open { $0.autoSchema(V1.PersonRecord.self, Upper.PersonRecord.self) }
        }
        #expect(both?.code == .schemaMismatch)
        #expect(both?.remedy.contains("renameEntity(\"people\", to: \"People\")") == true)
        func declare(_ schema: inout Schema) {
            schema.renameEntity("people", to: "People")
            schema.autoSchema(Upper.PersonRecord.self)
        }
        let storage = try open(declare)
        #expect(try await storage.all(Upper.Person.self).map(\.mail) == ["a@x", "b@x"])
        #expect(try await storage.history(Upper.Person.self, id: "a").count == 1)
        let name = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name = 'people' COLLATE NOCASE"
        #expect(try await storage.read { try String.fetchAll($0, sql: name) } == ["People"])
        try await storage.rebuild()
        #expect(try await storage.verify().isSound)
        try await storage.close()
        #expect(try StorageKit.plan(at: url, declare).isEmpty)
    }

    enum Upper {
        @StorageEntity(table: "People") struct Person {
            var id: String
            var mail: String
            var age: String
            var note: String?
        }
    }

    @Test("The plan of a store that doesn't exist creates none")
    func planOfMissingStore() throws {
        let plan = try StorageKit.plan(at: url) { $0.autoSchema(V1.PersonRecord.self) }
        #expect(!plan.isEmpty)
        #expect(!FileManager.default.fileExists(atPath: url.path))
        #expect(throws: StorageError.self) { try StorageKit.plan(at: url, config: .init(isReadOnly: true)) { _ in } }
    }

    @Test("The plan of an empty file leaves it empty")
    func planOfEmptyFile() throws {
        try Data().write(to: url)
        #expect(try !StorageKit.plan(at: url) { $0.autoSchema(V1.PersonRecord.self) }.isEmpty)
        #expect(try Data(contentsOf: url).isEmpty)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path) == ["a.sqlite"])
    }

    /// The codes of the errors of the plan and of opening.
    private func refusals(at url: URL) -> [StorageError.Code?] {
        let planned = #expect(throws: StorageError.self) { try StorageKit.plan(at: url) { _ in } }
        let opened = #expect(throws: StorageError.self) { try StorageKit.start(at: url) }
        return [planned?.code, opened?.code]
    }

    @Test("What is left of a lost store has no plan, because opening it is refused")
    func planOfLostStore() async throws {
        try await fillFirst()
        #expect(truncate(url.path, 0) == 0)
        #expect(refusals(at: url) == [.corrupt, .corrupt])
        try FileManager.default.removeItem(at: url)
        try Data("a part of it".utf8).write(to: URL(fileURLWithPath: url.path + "-wal"))
        #expect(refusals(at: url) == [.conflict, .conflict])
    }

    @Test("While a writer holds the lock of a store that isn't created yet, it has no plan", arguments: [true, false])
    func planOfLockedStore(isEmpty: Bool) throws {
        if isEmpty { try Data().write(to: url) }
        let lock = try WriterLock(store: url.path)
        #expect(refusals(at: url) == [.busy, .busy])
        lock.release()
        #expect(try !StorageKit.plan(at: url) { $0.autoSchema(V1.PersonRecord.self) }.isEmpty)
    }

    @Test("A path where no store can be created has no plan")
    func planOfUnusablePath() throws {
        #expect(refusals(at: folder.url.appending(path: "missing/a.sqlite")) == [.notFound, .notFound])
        try FileManager.default.createSymbolicLink(
            atPath: url.path, withDestinationPath: folder.path("missing.sqlite"))
        #expect(refusals(at: url) == [.notFound, .notFound])
    }

    @Test("A URL that isn't of a file is refused")
    func otherURLs() throws {
        let other = try #require(URL(string: "https://example.org" + url.path))
        let error = #expect(throws: StorageError.self) { try StorageKit.start(at: other) }
        #expect(error?.code == .invalidArgument)
        #expect(throws: StorageError.self) { try StorageKit.plan(at: other) { _ in } }
        #expect(!FileManager.default.fileExists(atPath: url.path))
    }

    @Test("A backup replaces no file of another URL's path")
    func backupToOtherURL() async throws {
        let storage = try open { _ in }
        let file = folder.path("backup.sqlite")
        try Data("kept".utf8).write(to: URL(fileURLWithPath: file))
        let other = try #require(URL(string: "https://example.org" + file))
        let error = await #expect(throws: StorageError.self) { try await storage.backup(to: other, replacing: true) }
        #expect(error?.code == .invalidArgument)
        #expect(try String(contentsOfFile: file, encoding: .utf8) == "kept")
        try await storage.close()
    }

    @StorageEntity(table: "humans") struct Human {
        var id: String
        var mail: String
        var age: String
        var note: String?
    }

    @Test("An older program is refused, or only reads")
    func olderProgram() async throws {
        try await fillFirst()
        try await open { second(&$0) }.close()
        let error = refusal { $0.autoSchema(V1.PersonRecord.self) }
        #expect(error?.code == .newerSchema)
        let configuration = StorageConfig(isReadOnly: true)
        // What it declares isn't there any more, so it can't even read as declared.
        #expect(throws: StorageError.self) {
            try StorageKit.start(at: url, config: configuration) { $0.autoSchema(V1.PersonRecord.self) }
        }
        let storage = try StorageKit.start(at: url, config: configuration).facade
        #expect(try await storage.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM people") } == 2)
        try await storage.close()
    }

    /// No default of a column can contain NUL.
    @StorageEntity(table: "people") struct Undeclarable {
        var id: String
        var note: String = "a\0b"
    }

    @Test("A declaration that is wrong by itself is refused by stores that are open for reading only, too")
    func undeclarableWhileReading() async throws {
        try await fillFirst()
        for configuration in [StorageConfig(), StorageConfig(isReadOnly: true)] {
            let error = #expect(throws: StorageError.self) {
                try StorageKit.start(at: url, config: configuration) { $0.autoSchema(UndeclarableRecord.self) }
            }
            #expect(error?.message.contains("can't be declared") == true)
        }
    }

    enum Kennel {
        @StorageEntity(table: "owners") struct Owner {
            var id: String
            var name: String
            @StorageHasMany(foreignKey: "ownerId") var dogs: [Dog] = []
        }
        @StorageEntity(table: "dogs") struct Dog {
            var id: String
            var name: String
            var ownerId: String
        }
        @StorageEntity(table: "dogs") struct RenamedDog {
            var id: String
            var title: String
            var ownerId: String
        }
    }

    /// Neither is the name of a column that isn't there taken for a text, nor for a column of the row that a condition relates to.
    @Test("A running program gets an error for a column that another one has renamed")
    func renamedWhileReading() async throws {
        let first = try open { $0.autoSchema(Kennel.OwnerRecord.self, Kennel.DogRecord.self) }
        try await first.save(Kennel.Owner(id: "o", name: "Rex"))
        try await first.save(Kennel.Dog(id: "d", name: "Fido", ownerId: "o"))
        let head = first.head
        try await first.close()
        let reader = try StorageKit.start(at: url, config: StorageConfig(isReadOnly: true)).facade
        let related = reader.query(Kennel.Owner.self).has(\.dogs) { $0.name == "Rex" }
        #expect(try await related.count() == 0)
        let storage = try open {
            $0.renameColumn("name", to: "title", in: "dogs")
            $0.autoSchema(Kennel.OwnerRecord.self, Kennel.RenamedDogRecord.self)
        }
        await #expect(throws: StorageError.self) { try await related.count() }
        let dogs = reader.query(Kennel.Dog.self)
        await #expect(throws: StorageError.self) { try await reader.all(Kennel.Dog.self) }
        await #expect(throws: StorageError.self) { try await dogs.where { $0.name == "name" }.count() }
        await #expect(throws: StorageError.self) { try await dogs.orderBy(\.name).fetch() }
        await #expect(throws: StorageError.self) { try await dogs.max(\.name) }
        let then = try await storage.asOf(.position(head), schema: .asRecorded)
        await #expect(throws: StorageError.self) { try await then.all(Kennel.RenamedDog.self) }
        #expect(try await then.all(Kennel.Dog.self).map(\.name) == ["Fido"])
        try await reader.close()
        try await storage.close()
    }

    @Test("A migration runs once and is captured")
    func migrationRunsOnce() async throws {
        try await fillFirst()
        func declare(_ schema: inout Schema) {
            schema.autoSchema(V1.PersonRecord.self)
            schema.migration("2026-01-20_upper") { try $0.execute(sql: "UPDATE people SET mail = upper(mail) || '!'") }
            schema.migration("2026-01-21_index") {
                try $0.create(index: "people_mail", on: "people", columns: ["mail"], unique: true)
            }
            schema.migration("2026-01-22_settings", skipIfTableExists: "people") { _ in
                Issue.record("the table exists, so this must not run")
            }
        }
        for _ in 0..<2 {
            let storage = try open(declare)
            #expect(try await storage.all(V1.Person.self).map(\.mail) == ["A@X!", "B@X!"])
            let last = try #require(try await storage.history(V1.Person.self, id: "a").last)
            #expect(last.old?["mail"] == "a@x")
            #expect(last.commit.metadata.reason == "migration 2026-01-20_upper")
            #expect(try await storage.verify().isSound)
            try await storage.close()
        }
    }

    @Test("A migration isn't skipped for a table whose creation was undone, also after it was looked for")
    func tableOfUndoneWrite() async throws {
        let context = try StorageKit.start(at: url) { _ in }
        let storage = context.facade
        await #expect(throws: CancellationError.self) {
            try await storage.write { tx in
                try tx.execute("CREATE TABLE pets (id INTEGER PRIMARY KEY)")
                let isFound = try tx.database.tableExists("pets")
                #expect(isFound)
                throw CancellationError()
            }
        }
        var schema = Schema()
        schema.migration("pets", skipIfTableExists: "pets") { db in
            try db.execute(sql: "CREATE TABLE pets (id INTEGER PRIMARY KEY)")
        }
        try schema.run(on: context.storage.pool)
        try await storage.write { tx in try tx.execute("INSERT INTO pets VALUES (1)") }
        try await storage.close()
    }

    /// GRDB keeps what it has found of the schema, and doesn't see that the engine creates a table.
    @Test("A migration is skipped for a table that the step before has created, also after it was looked for")
    func tableOfEarlierStep() async throws {
        let storage = try open { schema in
            schema.migration("before", skipIfTableExists: "pets") { _ in }
            schema.autoSchema(PetRecord.self)
            schema.migration("after", skipIfTableExists: "pets") { _ in
                Issue.record("the table exists, so this must not run")
            }
        }
        try await storage.write { tx in
            let isFound = try tx.database.tableExists("pets")
            #expect(isFound)
        }
        try await storage.close()
    }

    @Test("A write can't pass for a migration")
    func keyOfMigration() async throws {
        try await fillFirst()
        let storage = try open { $0.autoSchema(V1.PersonRecord.self) }
        for name in ["migration upper", "\u{301}"] {
            let error = await #expect(throws: StorageError.self) {
                try await storage.write(idempotencyKey: "storagekit.schema/\(name)") {
                    _ = try $0.deleteAll(V1.Person.self)
                }
            }
            #expect(error?.code == .invalidArgument)
        }
        #expect(try await storage.count(V1.Person.self) == 2)
        try await storage.close()
    }

    @StorageEntity(table: "levels") struct Level: Equatable {
        var id: Double
        var name: String
    }

    /// The column makes the integer 5 of the key 5.0, or keeps both, and SQL finds the row by either.
    @Test("A row's history is found by a key that the table stores as another number", arguments: [false, true])
    func historyByEqualNumber(isStrict: Bool) async throws {
        let storage = try open { schema in
            schema.migration("levels") { db in
                try db.execute(
                    sql: """
                        CREATE TABLE levels(
                          id ANY NOT NULL PRIMARY KEY, name TEXT NOT NULL, updatedAt ANY NOT NULL) \(isStrict ? "STRICT" : "");
                        INSERT INTO levels VALUES (5, 'five', '2026-01-15 10:00:00.000')
                        """)
            }
            schema.adopt("levels")
            schema.autoSchema(LevelRecord.self)
        }
        let five = Level(id: 5.0, name: "five")
        #expect(try await storage.get(Level.self, id: 5.0) == five)
        let versions = try await storage.history(Level.self, id: 5.0)
        #expect(try versions.map { try $0.entity } == [five])
        #expect(try await storage.blame(Level.self, id: 5.0)?.contains { $0.field.value == .text("five") } == true)
        let levels = storage.repository(Level.self)
        #expect(try await levels.get(id: 5.0) == five)
        try await storage.write { try $0.execute("UPDATE levels SET name = 'fifth'") }
        #expect(try await levels.get(id: 5.0)?.name == "fifth")
        try await storage.delete(Level.self, id: 5.0)
        #expect(try await storage.history(Level.self, id: 5.0).map(\.operation) == [.insert, .update, .delete])
        #expect(try await storage.history(Level.self, id: 5.5).isEmpty)
        try await storage.save(Level(id: 7.5, name: "more"))
        #expect(try await storage.history(Level.self, id: 7.5).count == 1)
        try await storage.close()
    }

    /// Each number has a history of its own, and at a time there is one of the rows.
    @Test("The history of a row isn't that of a deleted one whose key was the equal number of another type")
    func historyBesideEqualNumber() async throws {
        let storage = try open { schema in
            schema.migration("levels") { db in
                try db.execute(
                    sql: """
                        CREATE TABLE levels(
                          id ANY NOT NULL PRIMARY KEY, name TEXT NOT NULL, updatedAt ANY NOT NULL) STRICT
                        """)
            }
            schema.adopt("levels")
            schema.autoSchema(LevelRecord.self)
        }
        try await storage.save(Level(id: 5.0, name: "real"))
        let before = storage.head
        try await storage.delete(Level.self, id: 5.0)
        try await storage.write {
            try $0.execute("INSERT INTO levels(id, name, updatedAt) VALUES (5, 'integer', '2026-01-15 10:00:00.000')")
        }
        #expect(try await storage.get(Level.self, id: 5.0)?.name == "integer")
        #expect(try await storage.history(Level.self, id: 5.0).map { try $0.entity?.name } == ["integer"])
        func isBlamed(_ name: String, at point: StoragePoint = .head) async throws -> Bool {
            try await storage.blame(Level.self, id: 5.0, at: point)?.contains { $0.field.value == .text(name) } == true
        }
        #expect(try await isBlamed("integer"))
        #expect(try await isBlamed("real", at: .position(before)))
        // Of two deleted rows, the one that was there last.
        try await storage.delete(Level.self, id: 5.0)
        #expect(try await storage.history(Level.self, id: 5.0).map { try $0.entity?.name } == ["integer", nil])
        try await storage.close()
    }

    @Test("A restore of every table names the tables that were dropped since")
    func droppedTableIsNotRestored() async throws {
        try await fillFirst()
        var storage = try open {
            $0.autoSchema(V1.PersonRecord.self)
            $0.autoSchema(PetRecord.self)
        }
        let point = StoragePoint.position(storage.head)
        try await storage.close()
        storage = try open {
            $0.dropEntity("people")
            $0.autoSchema(PetRecord.self)
        }
        let all = try await storage.restore(to: point, isDryRun: true)
        #expect(all.droppedTables == ["people"])
        #expect(all.outcome.count == 0)
        #expect("\(all)".contains("people: the table was dropped since, and isn't restored"))
        let one = try await storage.restore(Pet.self, to: point)
        #expect(one.droppedTables.isEmpty)
        #expect(try await storage.restore(to: .head).droppedTables.isEmpty)
        try await storage.close()
    }

    @Test("A failing migration leaves the store as it was")
    func failingMigration() async throws {
        try await fillFirst()
        let before = try await snapshot()
        let error = refusal {
            $0.renameColumn("mail", to: "email", in: "people")
            $0.migration("2026-02-01_bad") { db in
                try db.execute(sql: "DELETE FROM people")
                try db.execute(sql: "INSERT INTO nowhere VALUES (1)")
            }
        }
        #expect(error?.code == .migrationFailed)
        #expect(error?.remedy.contains("declare the autoSchema") ?? false)
        #expect(try await snapshot() == before)
    }

    @Test("Two migrations with one name are an error")
    func duplicateMigrationName() {
        let error = refusal {
            $0.migration("same") { _ in }
            $0.migration("same") { _ in }
        }
        #expect(error?.code == .invalidArgument)
    }

    @Test("A recreated table becomes events")
    func recreatedTable() async throws {
        try await fillFirst()
        let storage = try open {
            $0.autoSchema(V1.PersonRecord.self)
            $0.migration("2026-03-01_constraint") { db in
                try db.execute(
                    sql: """
                        CREATE TABLE people_new (
                            id TEXT PRIMARY KEY NOT NULL, mail TEXT NOT NULL UNIQUE, age TEXT NOT NULL,
                            note TEXT NOT NULL DEFAULT '', updatedAt DATETIME NOT NULL, extra TEXT DEFAULT 'x',
                            CHECK (length(age) < 5))
                        """)
                try db.execute(
                    sql: """
                        INSERT INTO people_new(id, mail, age, note, updatedAt)
                        SELECT id, mail, age || '0', coalesce(note, 'none'), updatedAt FROM people WHERE id <> 'b'
                        UNION ALL SELECT 'c', 'c@x', '1', 'new', 0
                        """)
                try db.execute(sql: "DROP TABLE people")
                try db.execute(sql: "ALTER TABLE people_new RENAME TO people")
            }
        }
        let a = try await storage.history(V1.Person.self, id: "a")
        #expect(a.map(\.operation) == [.insert, .update])
        #expect(a.last?.old?["age"] == "41")
        #expect(a.last?.new?["age"] == "410")
        #expect(a.last?.new?["note"] == "none")
        #expect(a.last?.new?["extra"] == "x")
        #expect(try await storage.history(V1.Person.self, id: "b").map(\.operation) == [.insert, .delete])
        #expect(try await storage.history(V1.Person.self, id: "c").map(\.operation) == [.insert])
        #expect(try await storage.verify().findings.isEmpty)
        // What follows is captured again, with its back-links.
        try await storage.write { try $0.execute("UPDATE people SET note = 'later' WHERE id = 'a'") }
        #expect(try await storage.history(V1.Person.self, id: "a").count == 3)
        try await storage.rebuild()
        let report = try await storage.verify()
        #expect(report.isSound, "\(report.findings)")
        try await storage.close()
    }

    /// A key that is converted, or written otherwise, is another one in the log, though the new table may consider both equal.
    @Test(
        "The rows of a recreated table keep their histories apart if it converts the keys",
        arguments: [
            ("k TEXT, l, v, PRIMARY KEY(k)", "k INTEGER PRIMARY KEY, l, v"),
            ("k INTEGER PRIMARY KEY, l, v", "k TEXT PRIMARY KEY, l, v"),
            ("k TEXT PRIMARY KEY, l, v", "k REAL PRIMARY KEY, l, v"),
            ("k INT PRIMARY KEY, l, v", "k REAL PRIMARY KEY, l, v"),
            ("k, l TEXT PRIMARY KEY, v", "k, l TEXT PRIMARY KEY COLLATE NOCASE, v"),
            ("k TEXT, l TEXT, v, PRIMARY KEY(k, l)", "k INTEGER, l TEXT, v, PRIMARY KEY(k, l)"),
        ])
    func recreatedTableWithConvertedKeys(old: String, new: String) async throws {
        func declare(_ schema: inout Schema) {
            schema.migration("m1") { try $0.execute(sql: "CREATE TABLE t(\(old))") }
            schema.adopt("t")
        }
        var storage = try open(declare)
        try await storage.write { tx in
            try tx.execute(
                """
                INSERT INTO t(k, l, v) VALUES ('1', 'A', 'one'), ('4', 'D', 'four'), ('3', 'C', 'three'), ('2', 'B', 'two')
                """)
        }
        try await storage.write { try $0.execute("DELETE FROM t WHERE v = 'one'") }
        try await storage.close()
        storage = try open {
            declare(&$0)
            $0.migration("m2") { db in
                try db.execute(
                    sql: """
                        CREATE TABLE n(\(new));
                        INSERT INTO n(k, l, v) SELECT k, lower(l), v FROM t;
                        DROP TABLE t;
                        ALTER TABLE n RENAME TO t;
                        """)
            }
        }
        #expect(try await storage.verify().findings.map(\.message) == [])
        try await storage.write { try $0.execute("UPDATE t SET v = v || '!'") }
        try await storage.write { try $0.execute("DELETE FROM t WHERE v = 'two!'") }
        #expect(try await storage.verify().findings.map(\.message) == [])
        let rows = "SELECT quote(k) || ' ' || quote(l) || ' ' || quote(v) || ' ' || _position FROM t ORDER BY v"
        let before = try await storage.read { try String.fetchAll($0, sql: rows) }
        try await storage.rebuild()
        #expect(try await storage.read { try String.fetchAll($0, sql: rows) } == before)
        #expect(try await storage.verify().findings.map(\.message) == [])
        try await storage.close()
    }

    @Test("A recreated table without a rowid is refused with the reason")
    func recreatedTableWithoutRowid() async throws {
        try await fillFirst()
        let error = refusal {
            $0.autoSchema(V1.PersonRecord.self)
            $0.migration("2026-03-01_rowid") { db in
                try db.execute(
                    sql: """
                        CREATE TABLE people_new (
                            id TEXT PRIMARY KEY NOT NULL, mail TEXT NOT NULL, age TEXT NOT NULL, note TEXT,
                            updatedAt DATETIME NOT NULL) WITHOUT ROWID;
                        INSERT INTO people_new SELECT id, mail, age, note, updatedAt FROM people;
                        DROP TABLE people;
                        ALTER TABLE people_new RENAME TO people;
                        """)
            }
        }
        #expect(error?.code == .schemaMismatch)
        #expect(error?.message == "The new table of \"people\" is WITHOUT ROWID, and history needs the rowid.")
        #expect(error?.remedy == "Leave out WITHOUT ROWID.")
    }

    /// The rows of the old table are found by their rowid.
    @Test("A recreated table may leave out a column named rowid")
    func recreatedTableWithoutColumnNamedRowid() async throws {
        func declare(_ schema: inout Schema) {
            schema.migration("m1") { try $0.execute(sql: "CREATE TABLE t(id TEXT PRIMARY KEY, rowid INTEGER, v TEXT)") }
            schema.adopt("t")
        }
        var storage = try open(declare)
        try await storage.write {
            try $0.execute("INSERT INTO t(id, rowid, v) VALUES ('a', 2, 'one'), ('b', 1, 'two'), ('c', NULL, 'three')")
        }
        try await storage.close()
        storage = try open {
            declare(&$0)
            $0.migration("m2") { db in
                try db.execute(
                    sql: """
                        CREATE TABLE n(id TEXT PRIMARY KEY, v TEXT);
                        INSERT INTO n(id, v) SELECT id, v || id FROM t;
                        DROP TABLE t;
                        ALTER TABLE n RENAME TO t;
                        """)
            }
        }
        try await storage.write { try $0.execute("UPDATE t SET v = v || '!'") }
        #expect(try await storage.verify().findings.map(\.message) == [])
        let values = try await storage.read { try String.fetchAll($0, sql: "SELECT v FROM t ORDER BY id") }
        #expect(values == ["onea!", "twob!", "threec!"])
        try await storage.close()
    }

    @Test("The rows with the least and the greatest rowid are converted too")
    func conversionOfOutermostRows() async throws {
        func declare(_ schema: inout Schema) {
            schema.migration("numbers") {
                try $0.execute(sql: "CREATE TABLE numbers(id INTEGER PRIMARY KEY, value TEXT NOT NULL)")
            }
            schema.adopt("numbers")
        }
        var storage = try open(declare)
        try await storage.write {
            try $0.execute("INSERT INTO numbers(id, value) VALUES (?, '1'), (0, '2'), (?, '3')", [Int.min, Int.max])
        }
        try await storage.close()
        storage = try open {
            declare(&$0)
            $0.convertColumn("value", of: "numbers", to: Int.self) { old in
                guard case .text(let text) = old, let number = Int64(text) else { return 0 }
                return .integer(number)
            }
        }
        let values = try await storage.read { try Int.fetchAll($0, sql: "SELECT value FROM numbers ORDER BY id") }
        #expect(values == [1, 2, 3])
        try await storage.close()
    }

    @Test("Triggers of a recreated table don't follow the engine's own statements")
    func triggersOfRecreatedTable() async throws {
        try await fillFirst()
        let storage = try open {
            $0.autoSchema(V1.PersonRecord.self)
            $0.migration("2026-03-02_trigger") { db in
                try db.execute(
                    sql: """
                        CREATE TABLE people_new (
                            id TEXT PRIMARY KEY NOT NULL, mail TEXT NOT NULL UNIQUE, age TEXT NOT NULL, note TEXT,
                            updatedAt DATETIME NOT NULL);
                        INSERT INTO people_new SELECT id, mail, age, note, updatedAt FROM people;
                        DROP TABLE people;
                        ALTER TABLE people_new RENAME TO people;
                        CREATE TRIGGER touch AFTER UPDATE ON people WHEN new.note IS NOT 'touched'
                        BEGIN UPDATE people SET note = 'touched' WHERE id = new.id; END;
                        """)
            }
        }
        let notes = try await storage.read { try String?.fetchAll($0, sql: "SELECT note FROM people") }
        #expect(!notes.contains("touched"))
        var report = try await storage.verify()
        #expect(report.isSound, "\(report.findings)")
        try await storage.write { try $0.execute("UPDATE people SET age = '1' WHERE id = 'a'") }
        #expect(try await storage.get(V1.Person.self, id: "a")?.note == "touched")
        report = try await storage.verify()
        #expect(report.isSound, "\(report.findings)")
        try await storage.close()
    }

    @Test("Outside of a migration a table can't be recreated")
    func recreatingOutsideMigration() async throws {
        try await fillFirst()
        let storage = try open { $0.autoSchema(V1.PersonRecord.self) }
        await #expect(throws: StorageError.self) {
            try await storage.write { tx in
                try tx.execute("CREATE TABLE other AS SELECT * FROM people")
                try tx.execute("DROP TABLE people")
                try tx.execute("ALTER TABLE other RENAME TO people")
            }
        }
        #expect(try await storage.count(V1.Person.self) == 2)
        #expect(try await storage.verify().isSound)
        try await storage.close()
    }

    enum V3 {
        enum Mood: String, Codable, CaseIterable { case good, bad }
        struct Place: Embeddable { var city: String; var floor: Int }
        struct Mark: Embeddable { var mood: Mood }

        @StorageEntity(table: "people") struct Person: Equatable {
            var id: String
            var mail: String
            var age: String
            var note: String?
            @StorageJSON var tags: [String]
            @StorageJSON var counts: [String: Int]
            @StorageJSON var weights: [Double] = [1, 2.5, -3]
            @StorageJSON var mood: Mood = .bad
            @StorageEmbedded var place: Place
            @StorageEmbedded var mark: Mark?
        }
        @StorageEntity(table: "things") struct Thing { var id: String }
        @StorageEntity(table: "things") struct WithMood { var id: String; var mood: Mood }
        @StorageEntity(table: "things") struct WithToken { var id: String; var token: UUID }
        @StorageEntity(table: "things") struct WithMark { var id: String; @StorageEmbedded var mark: Mark }
        @StorageEntity(table: "things") struct WithJSON { var id: String; @StorageJSON var mood: Mood }
    }

    @Test("Earlier rows have readable values in new columns")
    func earlierRowsInNewColumns() async throws {
        try await fillFirst()
        let storage = try open { $0.autoSchema(V3.PersonRecord.self) }
        let person = try #require(try await storage.get(V3.Person.self, id: "a"))
        #expect(person.tags == [])
        #expect(person.counts == [:])
        #expect(person.weights == [1, 2.5, -3])
        #expect(person.mood == .bad)
        #expect(person.place == V3.Place(city: "", floor: 0))
        #expect(person.mark == nil)
        try await storage.rebuild()
        #expect(try await storage.get(V3.Person.self, id: "a") == person)
        try await storage.close()
    }

    /// SQLite gives the rows that are there another value than new ones where the column has no type: 1, not 1.0.
    @Test(
        "Earlier rows hold what SQLite gives them",
        arguments: [
            "DEFAULT 1.0", "BLOB DEFAULT -2.0", "DEFAULT (1e3)", "DEFAULT 0.5", "DEFAULT '1'", "DEFAULT 9e999",
            "REAL DEFAULT 1", "NUMERIC DEFAULT 1.0", "DEFAULT true", "ANY DEFAULT 2.0", "NOT NULL DEFAULT 3.0",
        ])
    func defaultOfEarlierRows(column: String) async throws {
        let store = try TemporaryStore { schema in
            schema.migration("parts") { try $0.execute(sql: "CREATE TABLE parts(id INTEGER PRIMARY KEY, n)") }
            schema.adopt("parts")
        }
        let storage = store.storage
        let rows: @Sendable (Database) throws -> [String] = { db in
            try String.fetchAll(db, sql: "SELECT id || ' ' || n || ' ' || quote(c) FROM parts ORDER BY id")
        }
        try await storage.write { try $0.execute("INSERT INTO parts(id, n) VALUES (1, 0), (2, 0), (4, 0)") }
        let first = storage.head
        try await storage.write { try $0.execute("DELETE FROM parts WHERE id = 4") }
        try await storage.write { tx in
            try tx.execute("ALTER TABLE parts ADD COLUMN c \(column)")
            try tx.execute("INSERT INTO parts(id, n) VALUES (3, 0)")
        }
        let added = storage.head
        var states = [(added, try await storage.read(rows))]
        // A row that was deleted before the column was added would have got the same.
        let earlier = states[0].1.prefix(2) + [states[0].1[0].replacing("1 0", with: "4 0", maxReplacements: 1)]
        #expect(try await storage.asOf(.position(first)).read(["parts"], rows) == Array(earlier))
        try await storage.write { try $0.execute("UPDATE parts SET n = 1 WHERE id IN (1, 3)") }
        states.append((storage.head, try await storage.read(rows)))
        for (position, wanted) in states {
            for schema in [SnapshotSchema.current, .asRecorded] {
                let past = try await storage.asOf(.position(position), schema: schema).read(["parts"], rows)
                #expect(past == wanted, "@\(position), \(schema)")
            }
        }
        var changes: [String] = []
        for try await change in storage.diff(from: .position(added)) {
            changes.append("\(change.key[0].value) \(change.new?.map(\.column) ?? [])")
        }
        #expect(changes == ["1 [\"n\"]", "3 [\"n\"]"])
        #expect(try await storage.verify().findings == [])
        try await storage.rebuild()
        #expect(try await storage.read(rows) == states[1].1)
        #expect(try await storage.verify().findings == [])
    }

    @Test("A required column without a value for earlier rows is refused")
    func requiredColumnWithoutValue() async throws {
        try await fill(V3.Thing(id: "a"))
        func refuse<Record: StorageKitEntityRecord>(_ record: Record.Type, _ column: String) {
            let error = refusal { $0.autoSchema(record) }
            #expect(error?.code == .schemaMismatch)
            #expect(error?.message.contains("\"\(column)\"") ?? false)
            #expect(error?.remedy.contains("optional") ?? false)
        }
        refuse(V3.WithMoodRecord.self, "mood")
        refuse(V3.WithTokenRecord.self, "token")
        refuse(V3.WithMarkRecord.self, "mark_mood")
        refuse(V3.WithJSONRecord.self, "mood")
        // A new store has no rows from before.
        try await StorageKit.inMemory { $0.autoSchema(V3.WithTokenRecord.self) }.facade.close()
        // Said explicitly, it is there.
        let storage = try open {
            $0.migration("add mood") { try $0.execute(sql: "ALTER TABLE things ADD mood TEXT NOT NULL DEFAULT 'good'") }
            $0.autoSchema(V3.WithMoodRecord.self)
        }
        #expect(try await storage.get(V3.WithMood.self, id: "a")?.mood == .good)
        try await storage.close()
    }
}

extension [StorageEvent.Field] {
    fileprivate subscript(column: String) -> StorageValue? { first { $0.column == column }?.value }
}
