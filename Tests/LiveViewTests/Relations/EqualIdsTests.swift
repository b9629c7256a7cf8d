import StorageKit
import StorageTesting
import Testing

/// Ids that Swift considers equal and the table doesn't.
@Suite struct EqualIdsTests {
    @StorageEntity struct Shelf: Equatable {
        var id: String
        @StorageHasMany(foreignKey: "shelfId") var tomes: [Tome]
    }
    @StorageEntity struct Tome: Equatable {
        var id: Int
        var shelfId: String
    }

    @Test("Children of parents whose ids are equal in Swift aren't lost")
    func childrenOfEqualIds() async throws {
        let storage = try StorageKit.inMemory { $0.autoSchema(ShelfRecord.self, TomeRecord.self) }.facade
        let shelves = ["\u{e9}", "e\u{301}", "x"].map { Shelf(id: $0, tomes: []) }
        try await storage.save(shelves)
        try await storage.save(shelves.enumerated().map { Tome(id: $0, shelfId: $1.id) })
        let found = try await storage.loadChildren(of: shelves, \.tomes)
        #expect(found.count == 2)
        #expect(found["\u{e9}"]?.map(\.id).sorted() == [0, 1])
        #expect(found["x"]?.map(\.id) == [2])
        let inside = try await storage.readTransaction { try $0.loadChildren(of: shelves + shelves, \.tomes) }
        #expect(inside == found)
        for (index, shelf) in shelves.enumerated() {
            #expect(try await storage.loadChildren(of: shelf, \.tomes).map(\.id) == [index])
        }
    }

    @Test("A child isn't listed twice where its column considers the ids equal as well")
    func childrenOfIdsThatCollate() async throws {
        let storage = try StorageKit.inMemory {
            $0.autoSchema(ShelfRecord.self, TomeRecord.self)
            // GRDB adds this collation to every connection.
            $0.migration("shelves' ids as Swift compares them") { db in
                try db.execute(
                    sql: """
                        CREATE TABLE new_tomes (
                            id INTEGER PRIMARY KEY NOT NULL, shelfId TEXT NOT NULL COLLATE swiftCompare,
                            updatedAt DATETIME NOT NULL);
                        DROP TABLE tomes;
                        ALTER TABLE new_tomes RENAME TO tomes;
                        """)
            }
        }.facade
        let shelves = ["\u{e9}", "e\u{301}"].map { Shelf(id: $0, tomes: []) }
        try await storage.save(shelves)
        try await storage.save(shelves.enumerated().map { Tome(id: $0, shelfId: $1.id) })
        let found = try await storage.loadChildren(of: shelves, \.tomes)
        #expect(found["\u{e9}"]?.map(\.id) == [0, 1])
    }
}
