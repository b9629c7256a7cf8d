import Foundation
import StorageKit
import TestSupport

@StorageEntity
struct Publisher: Hashable {
    var id: Int
    var city: String
    @StorageHasMany(foreignKey: "publisherId") var novels: [Novel] = []
}

@StorageEntity
struct Novelist: Hashable {
    var id: String
    var country: String
    @StorageHasMany(foreignKey: "novelistId") var novels: [Novel] = []
    @StorageHasMany(foreignKey: "mentorId") var pupils: [Novelist] = []
    var mentorId: String?
}

@StorageEntity
struct Novel: Hashable {
    var id: Int
    var year: Int
    var novelistId: String?
    var publisherId: Int?
    @StorageBelongsTo var novelist: Novelist?
    @StorageBelongsTo var publisher: Publisher?
    @StorageHasMany(foreignKey: "novelId") var chapters: [Chapter] = []

    var decade: Int { year / 10 }
}

@StorageEntity
struct Chapter: Hashable {
    var id: Int
    var pages: Int
    var novelId: Int
}

enum Library {
    /// - Parameter url: The store's file; in memory where nil.
    static func open(hasIndexes: Bool = true, at url: URL? = nil) async throws -> Storage {
        let declare: (inout Schema) throws -> Void = { schema in
            schema.autoSchema(PublisherRecord.self, NovelistRecord.self, NovelRecord.self, ChapterRecord.self)
            if hasIndexes {
                schema.migration("foreign keys") { db in
                    for (table, column) in [
                        ("novels", "novelistId"), ("novels", "publisherId"), ("chapters", "novelId"),
                        ("novelists", "mentorId"),
                    ] {
                        try db.create(index: "by_\(table)_\(column)", on: table, columns: [column])
                    }
                }
            }
        }
        guard let url else { return try StorageKit.inMemory(declare).facade }
        return try StorageKit.start(at: url, declare).facade
    }

    /// A library of two novelists, their three novels and two publishers.
    static func filled(hasIndexes: Bool = true) async throws -> Storage {
        let storage = try await open(hasIndexes: hasIndexes)
        try await storage.save([Publisher(id: 1, city: "Kyiv"), Publisher(id: 2, city: "Lviv")])
        try await storage.save([Novelist(id: "a", country: "UA"), Novelist(id: "b", country: "PL")])
        try await storage.save([
            Novel(id: 1, year: 1990, novelistId: "a", publisherId: 1),
            Novel(id: 2, year: 2010, novelistId: "a", publisherId: 2),
            Novel(id: 3, year: 2020, novelistId: "b", publisherId: 2),
        ])
        return storage
    }

    /// A change of a random row, or of several rows.
    static func change(_ tx: WriteTransaction, _ generator: inout SplitMix64, size: Int) throws {
        func novelist(_ generator: inout SplitMix64) -> String { "n\(generator.below(size))" }
        switch generator.below(16) {
        case 0..<3:
            try tx.save(
                Novelist(
                    id: novelist(&generator), country: generator.pick(["UA", "PL", "IE"]),
                    mentorId: generator.chance(50) ? novelist(&generator) : nil))
        case 3: try tx.delete(Novelist.self, id: novelist(&generator))
        case 4: try tx.save(Publisher(id: generator.below(4), city: generator.pick(["Kyiv", "Lviv"])))
        case 5: try tx.delete(Publisher.self, id: generator.below(4))
        case 6..<11:
            try tx.save(
                Novel(
                    id: generator.below(3 * size), year: 1990 + generator.below(30),
                    novelistId: generator.chance(90) ? novelist(&generator) : nil,
                    publisherId: generator.chance(80) ? generator.below(4) : nil))
        case 11: try tx.delete(Novel.self, id: generator.below(3 * size))
        case 12, 13:
            try tx.save(
                Chapter(id: generator.below(6 * size), pages: generator.below(100), novelId: generator.below(3 * size)))
        case 14: try tx.delete(Chapter.self, id: generator.below(6 * size))
        default:
            try tx.execute("UPDATE novels SET year = year + 1 WHERE id % 3 = \(generator.below(3))")
        }
    }
}
