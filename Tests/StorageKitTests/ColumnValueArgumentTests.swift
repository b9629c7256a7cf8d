import Foundation
import GRDB
import StorageKit
import Testing

/// Values in SQL of one's own mean what properties mean.
@Suite struct ColumnValueArgumentTests {
    @StorageEntity struct Visit: Equatable {
        var id: UUID
        var place: String
        var at: Date
    }

    @Test func datesAndIdentifiersFindTheirRows() async throws {
        let context = try StorageKit.inMemory { $0.autoSchema(VisitRecord.self) }
        let storage = context.facade
        let start = Date(timeIntervalSinceReferenceDate: 700_000_000.125)
        let visits = (0..<4).map { Visit(id: UUID(), place: "p\($0)", at: start.addingTimeInterval(Double($0))) }
        try await storage.save(visits)
        let access = context.storage
        let middle = visits[2].at
        let wanted = visits[1].id
        try await access.dbActor.read { db in
            let row = try GRDB.Row.fetchOne(db, sql: "SELECT place FROM visits WHERE id = ?", arguments: [wanted])
            #expect(row?["place"] == "p1")
            let rows = try GRDB.Row.fetchAll(
                db, sql: "SELECT place FROM visits WHERE at >= ? ORDER BY at", arguments: [middle])
            #expect(rows.map { $0["place"] as String } == ["p2", "p3"])
            let places = try String.fetchAll(db, sql: "SELECT place FROM visits WHERE at < ?", arguments: [middle])
            #expect(Set(places) == ["p0", "p1"])
            let count = try Int.fetchOne(
                db, sql: "SELECT count(*) FROM visits WHERE at = ? AND place = ?", arguments: [middle, "p2"])
            #expect(count == 1)
            #expect(try Date.fetchOne(db, sql: "SELECT max(at) FROM visits") == visits[3].at)
            #expect(
                try Date.fetchAll(db, sql: "SELECT at FROM visits WHERE id = ?", arguments: [wanted]) == [visits[1].at])
            let record = try VisitRecord.fetchOne(db, sql: "SELECT * FROM visits WHERE id = ?", arguments: [wanted])
            #expect(record?.asEntity() == visits[1])
        }
        try await access.dbActor.write { db in
            try db.execute(sql: "DELETE FROM visits WHERE at < ?", arguments: [middle])
            try db.execute(sql: "UPDATE visits SET at = ? WHERE id = ?", arguments: [start, visits[3].id])
            try db.execute(sql: "UPDATE visits SET place = ? WHERE place = ?", arguments: ["q", "p2"])
        }
        #expect(try await storage.query(Visit.self).orderBy(\.place).fetch().map(\.place) == ["p3", "q"])
        #expect(try await storage.get(Visit.self, id: visits[3].id)?.at == start)
        await #expect(throws: StorageError.self) {
            try await access.pool.write { try $0.execute(sql: "UPDATE visits SET at = ?", arguments: [Double.nan]) }
        }
        #expect(try await storage.verify().isSound)
    }
}
