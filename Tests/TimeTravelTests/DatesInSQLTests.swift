import Foundation
import GRDB
import StorageEntities
import StorageKit
import StorageMaintenance
import StorageViews
import TestSupport
import Testing

/// Dates and UUIDs in SQL of one's own mean what properties mean, however they are bound and read.
@Suite struct DatesInSQLTests {
    @StorageEntity struct Visit: Equatable {
        var id: UUID
        var place: String
        var at: Date
        var left: Date?
        var guide: UUID?
    }

    struct Stay: Embeddable {
        var from: Date
        var room: UUID
        var until: Date?
    }

    @StorageEntity struct Booking: Equatable {
        var id: Int
        @StorageEmbedded(prefix: "stay_") var stay: Stay
        var seen: Date = .distantPast
    }

    /// How GRDB users write what they look for.
    private typealias Finding = @Sendable (GRDB.Database, Date, UUID) throws -> [String]

    private static let findings: [(name: String, find: Finding)] = {
        let select = "SELECT place FROM visits WHERE at < ? OR id = ? ORDER BY place"
        let named = "SELECT place FROM visits WHERE at < :limit OR id = :id ORDER BY place"
        return [
            ("an array literal", { try String.fetchAll($0, sql: select, arguments: [$1, $2]) }),
            (
                "arguments from values",
                { try String.fetchAll($0, sql: select, arguments: StatementArguments([$1, $2])!) }
            ),
            ("names", { try String.fetchAll($0, sql: named, arguments: ["limit": $1, "id": $2]) }),
            (
                "a prepared statement",
                {
                    let statement = try $0.makeStatement(sql: select)
                    statement.arguments = [$1, $2]
                    return try String.fetchAll(statement)
                }
            ),
            (
                "an SQL literal",
                {
                    let request: SQLRequest<String> =
                        "SELECT place FROM visits WHERE at < \($1) OR id = \($2) ORDER BY place"
                    return try request.fetchAll($0)
                }
            ),
            (
                "a request of the record",
                {
                    let (at, id) = (GRDB.Column("at"), GRDB.Column("id"))
                    return try VisitRecord.filter(at < $1 || id == $2).order(GRDB.Column("place")).fetchAll($0).map(
                        \.place)
                }
            ),
            (
                "values of columns",
                { try String.fetchAll($0, sql: select, arguments: [$1.storageValue, $2.storageValue]) }
            ),
        ]
    }()

    private static let start = Date(timeIntervalSinceReferenceDate: 790_164_000.123)

    private func visited() async throws -> (context: StorageKit.Context, visits: [Visit]) {
        let context = try StorageKit.inMemory { $0.autoSchema(VisitRecord.self) }
        let visits = (0..<4).map { number in
            let isFirst = number == 0
            return Visit(
                id: UUID(), place: "p\(number)", at: Self.start.addingTimeInterval(Double(number)),
                left: isFirst ? nil : Self.start, guide: isFirst ? nil : UUID())
        }
        try await context.facade.save(visits)
        return (context, visits)
    }

    @Test("Every way of binding a date finds the same rows", arguments: findings.map(\.name))
    func everyBindingFindsTheSameRows(_ name: String) async throws {
        let find = try #require(Self.findings.first { $0.name == name }).find
        let (context, visits) = try await visited()
        let (limit, id) = (visits[2].at, visits[3].id)
        let typed = try await context.facade.query(Visit.self).where { $0.at < limit || $0.id == id }
            .orderBy(\.place).fetch().map(\.place)
        #expect(typed == ["p0", "p1", "p3"])
        #expect(try await context.storage.pool.read { try find($0, limit, id) } == typed)
        // Long ago, and nobody: nothing, where a comparison of unlike types would find all.
        #expect(try await context.storage.pool.read { try find($0, .distantPast, UUID()) } == [])
    }

    @Test("Deleting by date deletes the intended rows")
    func deletingByDate() async throws {
        let (context, visits) = try await visited()
        let storage = context.facade
        let longAgo = Date(timeIntervalSinceReferenceDate: 0)
        try await storage.write { tx in
            try tx.execute("DELETE FROM visits WHERE at < :limit", ["limit": longAgo])
            try tx.execute("DELETE FROM visits WHERE at < ?", [longAgo])
            try tx.database.execute(literal: "DELETE FROM visits WHERE at < \(longAgo)")
            try VisitRecord.filter(GRDB.Column("at") < longAgo).deleteAll(tx.database)
            #expect(try VisitRecord.deleteOne(tx.database, key: UUID()) == false)
        }
        #expect(try await storage.count(Visit.self) == 4)
        try await storage.write { tx in
            try tx.execute("DELETE FROM visits WHERE at < ?", [visits[1].at])
            try tx.execute("UPDATE visits SET at = ? WHERE id = ?", [Self.start, visits[3].id])
            #expect(try VisitRecord.deleteOne(tx.database, key: visits[2].id))
        }
        #expect(try await storage.query(Visit.self).orderBy(\.at).fetch().map(\.place) == ["p3", "p1"])
        #expect(try await storage.get(Visit.self, id: visits[3].id)?.at == Self.start)
        #expect(try await storage.verify().isSound)
    }

    @Test("SQL functions and GRDB read the dates")
    func datesReadBySQLAndGRDB() async throws {
        struct Row: FetchableRecord, Decodable {
            var id: UUID
            var at: Date
            var left: Date?
        }
        let (context, visits) = try await visited()
        try await context.storage.pool.read { db in
            let row = try #require(
                try GRDB.Row.fetchOne(
                    db, sql: "SELECT *, date(at) AS day, strftime('%f', at) AS second FROM visits ORDER BY at"))
            #expect(row["day"] == "2026-01-15")
            #expect(row["second"] == "00.123")
            #expect(row["at"] as String == "2026-01-15 10:00:00.123")
            #expect(row["id"] as UUID == visits[0].id)
            #expect(row["guide"] as UUID? == nil)
            // GRDB counts in whole nanoseconds, which a double can't tell apart.
            #expect(abs((row["at"] as Date).timeIntervalSince(visits[0].at)) < 1e-6)
            let rows = try Row.fetchAll(db, sql: "SELECT * FROM visits ORDER BY at")
            #expect(rows.map(\.id) == visits.map(\.id))
            #expect(rows[0].left == nil)
            #expect(abs(rows[3].at.timeIntervalSince(visits[3].at)) < 1e-6)
            #expect(try VisitRecord.order(GRDB.Column("at")).fetchAll(db).map { $0.asEntity() } == visits)
            #expect(try VisitRecord.fetchOne(db, key: visits[1].id)?.asEntity() == visits[1])
        }
        let before = Date.now
        try await context.facade.write {
            try $0.execute("UPDATE visits SET at = CURRENT_TIMESTAMP, left = '2026-01-15T10:00:00.5Z'")
        }
        let after = Date.now
        let read = try await context.facade.all(Visit.self)
        // SQLite leaves out the fraction of the second.
        #expect(read.allSatisfy { $0.at > before - 1 && $0.at <= after })
        #expect(read.allSatisfy { $0.left == Date(timeIntervalSinceReferenceDate: 790_164_000.5) })
    }

    @Test("Numbers and other texts aren't dates")
    func numbersAreNoDates() async throws {
        let (context, _) = try await visited()
        for value in ["0", "790164000.5", "''", "'yesterday'", "x'00'"] {
            try await context.facade.write { try $0.execute("UPDATE visits SET at = \(value)") }
            let error = await #expect(throws: StorageError.self) { _ = try await context.facade.all(Visit.self) }
            #expect(error?.code == .invalidValue)
        }
        try await context.facade.write { try $0.execute("UPDATE visits SET at = CURRENT_TIMESTAMP, guide = 'text'") }
        await #expect(throws: StorageError.self) { _ = try await context.facade.all(Visit.self) }
    }

    /// GRDB rounds to milliseconds. That is what Guarantees admits, and `storageValue` is the way around it.
    @Test("Finer dates are equal in their own form only")
    func submillisecondDates() async throws {
        let (context, visits) = try await visited()
        let fine = Self.start.addingTimeInterval(0.000_25)
        try await context.facade.save(Visit(id: visits[0].id, place: "fine", at: fine))
        let sql = "SELECT place FROM visits WHERE at = ?"
        let found = try await context.storage.pool.read { db in
            try [[fine], [fine.storageValue]].map { (arguments: StatementArguments) in
                try String.fetchAll(db, sql: sql, arguments: arguments)
            }
        }
        #expect(found == [[], ["fine"]])
        #expect(try await context.facade.query(Visit.self).where { $0.at == fine }.fetch().map(\.place) == ["fine"])
        try await context.facade.write { try $0.execute("DELETE FROM visits WHERE at = ?", [fine]) }
        #expect(try await context.facade.count(Visit.self) == 3)
    }

    /// What a conversion between 1970 and 2001, or a text of fixed length, would lose.
    @Test("Every date round-trips bit for bit and keeps its order")
    func datesRoundTripInOrder() async throws {
        let context = try StorageKit.inMemory { $0.autoSchema(VisitRecord.self) }
        let seed = testSeeds(1)[0]
        var generator = SplitMix64(seed: seed)
        var seconds: [Double] = [0, 0.1, -0.1, 1, -1, 0.999_999_9, .leastNonzeroMagnitude, -.leastNonzeroMagnitude]
        seconds += [-63_145_526_400, 252_423_993_600.0.nextDown, Date.distantPast.timeIntervalSinceReferenceDate]
        for _ in 0..<1_000 {
            seconds.append(.random(in: 7e8...9e8, using: &generator))
            seconds.append(.random(in: -63_145_526_400..<252_423_993_600, using: &generator))
            seconds.append(.random(in: -1...1, using: &generator) * pow(2, .random(in: -60...35, using: &generator)))
        }
        let dates = seconds.map { Date(timeIntervalSinceReferenceDate: $0) }
        try await context.facade.save(dates.map { Visit(id: UUID(), place: "", at: $0, left: $0) })
        let read = try await context.facade.query(Visit.self).orderBy(\.at).fetch()
        let expected = seconds.sorted().map(\.bitPattern)
        #expect(read.map(\.at.timeIntervalSinceReferenceDate.bitPattern) == expected, "seed \(seed)")
        #expect(read.map(\.left?.timeIntervalSinceReferenceDate.bitPattern) == expected, "seed \(seed)")
        let records = try await context.storage.pool.read { try VisitRecord.order(GRDB.Column("at")).fetchAll($0) }
        #expect(records.map(\.at.timeIntervalSinceReferenceDate.bitPattern) == expected, "seed \(seed)")
    }

    @Test(
        "Dates that have no text form are refused",
        arguments: [.nan, .infinity, -.infinity, 252_423_993_600, (-63_145_526_400.0).nextDown])
    func datesWithoutText(_ seconds: Double) async throws {
        let context = try StorageKit.inMemory { $0.autoSchema(VisitRecord.self, BookingRecord.self) }
        let storage = context.facade
        let date = Date(timeIntervalSinceReferenceDate: seconds)
        try await storage.save(Visit(id: UUID(), place: "p", at: Self.start))
        func code(_ body: () async throws -> Void) async -> StorageError.Code? {
            do {
                try await body()
                return nil
            } catch {
                return (error as? StorageError)?.code
            }
        }
        let visit = Visit(id: UUID(), place: "", at: date)
        let booking = Booking(id: 1, stay: Stay(from: date, room: UUID()))
        #expect(await code { try await storage.save(visit) } == .invalidValue)
        #expect(
            await code { try await storage.save(Visit(id: UUID(), place: "", at: .now, left: date)) } == .invalidValue)
        #expect(await code { try await storage.save(booking) } == .invalidValue)
        #expect(
            await code { try await storage.write { try VisitRecord.from(visit, now: .now).insert($0.database) } }
                == .invalidValue)
        #expect(
            await code { try await storage.write { try BookingRecord.from(booking, now: .now).insert($0.database) } }
                == .invalidValue)
        #expect(
            await code { _ = try await storage.query(Visit.self).updateAll { $0.left.set(to: date) } } == .invalidValue)
        #expect(
            await code { try await storage.write { try $0.execute("UPDATE visits SET left = ?", [date]) } }
                == .invalidValue)
        #expect(await code { _ = try await storage.query(Visit.self).where { $0.at < date }.fetch() } == .invalidValue)
        #expect(try await storage.all(Visit.self).map(\.left) == [nil])
    }

    @Test("Embedded and optional dates round-trip")
    func embeddedAndOptionalDates() async throws {
        let context = try StorageKit.inMemory { $0.autoSchema(BookingRecord.self) }
        let storage = context.facade
        let bookings = (1...3).map { number in
            Booking(
                id: number,
                stay: Stay(
                    from: Self.start.addingTimeInterval(Double(number) / 3), room: UUID(),
                    until: number == 2 ? nil : .distantFuture))
        }
        try await storage.save(bookings)
        #expect(try await storage.all(Booking.self, orderBy: "id") == bookings)
        let (from, room) = (bookings[1].stay.from, bookings[2].stay.room)
        #expect(try await storage.query(Booking.self).where { $0.stay.from <= from }.count() == 2)
        #expect(try await storage.query(Booking.self).where { $0.stay.room == room }.fetch().map(\.id) == [3])
        #expect(try await storage.query(Booking.self).where { $0.stay.until == nil }.fetch().map(\.id) == [2])
        try await context.storage.pool.read { db in
            let records = try BookingRecord.order(GRDB.Column("id")).fetchAll(db)
            #expect(records.map { $0.asEntity() } == bookings)
            #expect(try Int.fetchOne(db, sql: "SELECT id FROM bookings WHERE stay_room = ?", arguments: [room]) == 3)
        }
    }

    @Test("Live views, pages and aggregates agree on dates")
    @MainActor func datesInLiveViews() async throws {
        let (context, visits) = try await visited()
        let storage = context.facade
        let (limit, guide) = (visits[1].at, try #require(visits[2].guide))
        let query = storage.query(Visit.self).where { $0.at >= limit }
        let list = QuerySubscription(query.orderBy(\.at, .descending), start: .immediate)
        let guided = CountSubscription(storage.query(Visit.self).where { $0.guide == guide }, start: .immediate)
        let extremes = AggregationSubscription(query, .min(\.at), .max(\.at), start: .immediate)
        #expect(list.items.map(\.place) == ["p3", "p2", "p1"])
        #expect(guided.count == 1)
        // Earlier by less than GRDB could tell.
        var late = visits[3]
        late.at = limit.addingTimeInterval(-0.000_01)
        let other = Visit(
            id: UUID(), place: "new", at: limit.addingTimeInterval(0.000_01), left: .distantFuture, guide: guide)
        await storage.waitForViews(through: try await storage.save([late, other]))
        #expect(list.items.map(\.place) == ["p2", "new", "p1"])
        #expect(guided.count == 2)
        #expect(extremes.value == (limit, visits[2].at))
        #expect(try await query.min(\.at) == limit)
        #expect(try await query.max(\.at) == visits[2].at)
        #expect(try await query.max(\.left) == .distantFuture)
        let ordered = query.orderBy(\.at)
        let first = try await ordered.page(size: 2)
        let second = try await ordered.page(after: PageCursor(text: try #require(first.next).text), size: 2)
        #expect((first.items + second.items).map(\.place) == ["p1", "new", "p2"])
        #expect(!second.hasMore)
    }

    /// A table that was made with SQL, as GRDB's users make it.
    @Test("Tables that were created with GRDB are used as they are")
    func tablesMadeWithGRDB() async throws {
        let id = UUID()
        let context = try StorageKit.inMemory { schema in
            schema.migration("visits") { db in
                try db.create(table: "visits") { table in
                    table.primaryKey("id", .blob)
                    table.column("place", .text).notNull()
                    table.column("at", .datetime).notNull()
                    table.column("left", .datetime)
                    table.column("guide", .blob)
                    table.column("updatedAt", .datetime).notNull()
                }
                try db.execute(
                    sql: "INSERT INTO visits(id, place, at, updatedAt) VALUES (?, 'old', ?, ?)",
                    arguments: [id, Self.start, Self.start])
            }
            schema.adopt("visits")
            schema.autoSchema(VisitRecord.self)
        }
        #expect(
            try await context.facade.get(Visit.self, id: id) == Visit(id: id, place: "old", at: Self.start))
    }
}
