import EntityTestSupport
import Foundation
import GRDB
import StorageEntities
import StorageKit
import TestSupport
import Testing

/// Rows of a large table as they were before, and after, its schema was changed.
extension RecentPastTests {
    enum Before {
        @StorageEntity(table: "pieces") struct TextPiece {
            var id: String
            var title: String
            var size: String
        }
        @StorageEntity(table: "pieces") struct LabelledPiece {
            var id: String
            var label: String
            var size: Int
        }
        @StorageEntity(table: "parts") struct Part {
            var id: String
            var title: String
            var size: Int
        }
    }

    enum After {
        @StorageEntity(table: "pieces") struct Piece: Equatable {
            var id: String
            var title: String
            var size: Int
        }
    }

    enum SchemaChange: CaseIterable {
        case convertedColumn
        case renamedColumn
        case renamedTable

        /// The names of before.
        var table: String { self == .renamedTable ? "parts" : "pieces" }
        var title: String { self == .renamedColumn ? "label" : "title" }

        func declareBefore(_ schema: inout Schema) {
            schema.autoSchema(NoteRecord.self)
            switch self {
            case .convertedColumn: schema.autoSchema(Before.TextPieceRecord.self)
            case .renamedColumn: schema.autoSchema(Before.LabelledPieceRecord.self)
            case .renamedTable: schema.autoSchema(Before.PartRecord.self)
            }
        }

        func declareAfter(_ schema: inout Schema) {
            switch self {
            case .convertedColumn:
                schema.convertColumn("size", of: "pieces", to: Int.self) { old in
                    guard case .text(let text) = old else { return 0 }
                    return .integer(Int64(text) ?? -1)
                }
            case .renamedColumn: schema.renameColumn("label", to: "title", in: "pieces")
            case .renamedTable: schema.renameEntity("parts", to: "pieces")
            }
            schema.autoSchema(NoteRecord.self, After.PieceRecord.self)
        }
    }

    /// Where the table was, and what it had.
    private struct Moment: Sendable {
        let position: Int64
        let isBeforeChange: Bool
        /// The rows that may change.
        let pieces: [String: After.Piece]
    }

    /// Changes rows, and remembers them.
    private struct Pieces {
        private static let ids = (0..<12).map { "p\($0 * 500)" }
        static let allIds = ids + ids.map { "\($0)-new" }
        var table: String
        var title: String
        private(set) var pieces: [String: After.Piece] = [:]

        /// Inserts all rows.
        mutating func fill(_ storage: Storage) async throws {
            let sql = """
                INSERT INTO \(table)(id, \(title), size, updatedAt)
                WITH n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < \(RecentPastTests.rows))
                SELECT 'p' || i, 'title', i % 90, '2026-01-01 00:00:00.000' FROM n
                """
            try await storage.write { try $0.execute(sql) }
            for (number, id) in Self.ids.enumerated() {
                pieces[id] = After.Piece(id: id, title: "title", size: number * 500 % 90)
            }
        }

        /// Changes a row, or its key, in one commit.
        mutating func change(_ storage: Storage, _ random: inout SplitMix64) async throws {
            let id = random.pick(Self.ids)
            let size = random.below(90)
            let sql: String
            switch random.below(5) {
            case 0:
                sql = "DELETE FROM \(table) WHERE id = '\(id)'"
                pieces[id] = nil
            case 1:
                sql = """
                    INSERT OR REPLACE INTO \(table)(id, \(title), size, updatedAt)
                    VALUES ('\(id)', 'replaced', '\(size)', '2026-01-02 00:00:00.000')
                    """
                pieces[id] = After.Piece(id: id, title: "replaced", size: size)
            case 2:
                sql = "UPDATE \(table) SET size = '\(size)' WHERE id = '\(id)'"
                pieces[id]?.size = size
            case 3: sql = move(id, to: "\(id)-new")
            default: sql = move("\(id)-new", to: id)
            }
            try await storage.write { try $0.execute(sql) }
        }

        private mutating func move(_ id: String, to other: String) -> String {
            if var piece = pieces.removeValue(forKey: id) {
                piece.id = other
                pieces[other] = piece
            }
            return "UPDATE OR REPLACE \(table) SET id = '\(other)' WHERE id = '\(id)'"
        }
    }

    /// What is found of the rows that may change, in several ways.
    private static func found(_ past: StorageSnapshot) async throws -> [String: After.Piece] {
        let query = past.query(After.Piece.self).where { $0.id.in(Pieces.allIds) }
        let pieces = try await query.fetch()
        #expect(try await query.count() == pieces.count)
        for id in ["p500", "p500-new"] {
            let piece = pieces.first { $0.id == id }
            #expect(try await past.get(After.Piece.self, id: id) == piece)
            #expect(try await past.exists(After.Piece.self, id: id) == (piece != nil))
        }
        return Dictionary(uniqueKeysWithValues: pieces.map { ($0.id, $0) })
    }

    /// What reads of many rows return.
    private static func summary(_ past: StorageSnapshot) async throws -> [String] {
        let large = past.query(After.Piece.self).where { $0.size > 80 }
        return [
            "\(try await past.count(After.Piece.self))", "\(try await large.sum(\.size))",
            "\(try await past.page(After.Piece.self, orderBy: "size", limit: 40, offset: 100).items)",
            "\(try await past.all(After.Piece.self, orderBy: "title").prefix(20))",
        ]
    }

    private static func moments(
        _ change: SchemaChange, at url: URL, _ random: inout SplitMix64
    ) async throws -> (moments: [Moment], storage: Storage) {
        var pieces = Pieces(table: change.table, title: change.title)
        var moments: [Moment] = []
        var storage = try StorageKit.start(at: url) { change.declareBefore(&$0) }.facade
        try await pieces.fill(storage)
        for round in 0..<10 {
            if round == 5 {
                try await storage.close()
                storage = try StorageKit.start(at: url) { change.declareAfter(&$0) }.facade
                (pieces.table, pieces.title) = ("pieces", "title")
            }
            try await pieces.change(storage, &random)
            // Each moment is another one.
            try await storage.save(Note(id: 2, text: "\(round)"))
            moments.append(Moment(position: storage.head, isBeforeChange: round < 5, pieces: pieces.pieces))
        }
        return (moments, storage)
    }

    @Test(
        "The past of a table whose schema was changed since reads as it was", arguments: SchemaChange.allCases,
        testSeeds(1))
    func schemaChanges(change: SchemaChange, seed: UInt64) async throws {
        let folder = try TemporaryFolder()
        var random = SplitMix64(seed: seed)
        let (moments, storage) = try await Self.moments(change, at: URL(fileURLWithPath: folder.path()), &random)
        for (number, moment) in moments.shuffled(using: &random).enumerated() {
            let isOld = number >= moments.count / 2
            if number == moments.count / 2 {
                try await storage.write { tx in
                    for text in 0..<1_100 { try tx.save(Note(id: 1, text: "\(text)")) }
                }
            }
            let past = try await storage.asOf(.position(moment.position))
            let label = "\(change), seed \(seed), moment @\(moment.position)"
            // Other columns than today's aren't in the live table, and older events don't have a converted column.
            let needsTable =
                switch change {
                case .convertedColumn: moment.isBeforeChange || isOld
                case .renamedColumn: moment.isBeforeChange
                case .renamedTable: false
                }
            #expect(try await past.exists(After.Piece.self, id: "p0") == (moment.pieces["p0"] != nil), "\(label)")
            // After the first read: if many take long, the table is created.
            #expect(try await Self.isCreated(past, "pieces") == needsTable, "\(label)")
            #expect(try await Self.found(past) == moment.pieces, "\(label)")
            let summary = isOld ? [] : try await Self.summary(past)
            _ = try await past.read(["pieces"]) { try Int.fetchOne($0, sql: "SELECT count(rowid) FROM pieces") }
            #expect(try await Self.found(past) == moment.pieces, "\(label), from the table")
            if !isOld { #expect(try await Self.summary(past) == summary, "\(label)") }
        }
        let verified = try await storage.verify()
        #expect(verified.isSound, "\(verified.findings)")
        try await storage.close()
    }
}
