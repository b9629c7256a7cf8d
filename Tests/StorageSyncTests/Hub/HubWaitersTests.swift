import Foundation
import PredicateTestSupport
import StorageCore
import StorageLog
import Testing

@testable import StorageSync

/// Followers are found by the texts that their conditions ask for, and none is missed.
struct HubWaitersTests {
    /// A table with columns of every affinity and collation.
    private static func table(_ name: String) throws -> HubEntityTable {
        var columns = [CatalogColumn(id: 2, name: "id", type: "TEXT", keyOrdinal: 1)]
        for (number, declared) in SQLiteTable.declared.enumerated() {
            var column = CatalogColumn(id: UInt32(number + 3), name: declared.name, type: declared.type)
            column.collation = declared.collation.rawValue
            columns.append(column)
        }
        return try #require(HubEntityTable(CatalogEntity(id: 1_000, name: name, stored: name, columns: columns)))
    }

    private static func access(_ conditions: [(entity: String, condition: RowPredicate?)]) -> HubAccess {
        HubAccess(
            actor: "ada", namespace: "ada",
            grants: conditions.map { .init(entity: $0.entity, reads: true, writes: true, condition: $0.condition) })
    }

    /// Conditions that mostly ask for a text, as those of followers do.
    private static func condition(_ random: inout PredicateGenerator) -> RowPredicate? {
        guard random.next() % 8 > 0 else { return nil }
        let (other, declared) = (random.predicate(depth: 1), SQLiteTable.declared)
        let column = declared[Int(random.next() % UInt64(declared.count))].name
        let equal = RowPredicate.comparison(column: column, .equal, .value(random.value()))
        switch random.next() % 4 {
        case 0: return other
        case 1: return .all([other, equal])
        default: return equal
        }
    }

    @Test("Every matching waiter is found", arguments: UInt64(1)...8)
    func everyMatchingWaiter(seed: UInt64) throws {
        var random = PredicateGenerator(seed: seed)
        random.favourites = [.text("a"), .text("A"), .text("a "), .text("5"), .integer(5), .real(5), .text("e\u{301}")]
        let tables = try ["one", "two"].map(Self.table)
        var waiters = HubWaiters<Int>()
        var scopes: [Int: (scope: HubScope, isImpatient: Bool)] = [:]
        var (next, found) = (0, 0)
        for _ in 0..<150 {
            while scopes.count < 40 {
                let conditions = tables.map { ($0.name, Self.condition(&random)) }
                let entities = random.next() % 4 == 0 ? ["one", "two"] : ["one"]
                let scope = HubScope(HubPull(behind: 0, of: Set(entities)), Self.access(conditions))
                let isImpatient = random.next() % 50 == 0
                next += 1
                scopes[next] = (scope, isImpatient)
                waiters.insert(next, next, in: scope, isImpatient: isImpatient)
            }
            let changes = (0..<random.next() % 3 + 1).map { number in
                let table = tables[Int(random.next() % 2)]
                let row = { HubEntityTable.Row(key: .text("k\(number)"), values: random.row()) }
                let kind = random.next() % 3
                return HubChange(
                    table: table, id: "k\(number)", position: Int64(number), old: kind == 0 ? nil : row(),
                    new: kind == 1 ? nil : row(), source: nil)
            }
            let expected = scopes.filter { _, known in
                known.isImpatient || changes.contains { known.scope.concerns($0) }
            }
            #expect(waiters.removeConcerned(by: changes).sorted() == expected.keys.sorted())
            for id in expected.keys { scopes[id] = nil }
            found += expected.count
            // Some give up.
            if let id = scopes.keys.min(), random.next() % 2 == 0 {
                #expect(waiters.remove(id) == id)
                #expect(waiters.remove(id) == nil)
                scopes[id] = nil
            }
            #expect(waiters.count == scopes.count)
        }
        #expect(found > 100)
        for id in scopes.keys { _ = waiters.remove(id) }
        #expect(waiters.isEmpty)
    }

    /// However many wait for other texts.
    @Test("Waiters for other texts aren't tried")
    func otherTextsAreNotTried() throws {
        let table = try Self.table("one")
        var waiters = HubWaiters<Int>()
        for id in 0..<1_000 {
            let condition = RowPredicate.comparison(column: "t", .equal, .value(.text("\(id)")))
            let scope = HubScope(HubPull(behind: 0, of: ["one"]), Self.access([("one", condition)]))
            waiters.insert(id, id, in: scope, isImpatient: false)
        }
        let values = SQLiteTable.declared.map { $0.name == "t" ? StorageValue.text("7") : .null }
        let change = HubChange(
            table: table, id: "k", position: 1, old: nil, new: HubEntityTable.Row(key: .text("k"), values: values),
            source: nil)
        #expect(waiters.candidates(of: change) == [7])
        #expect(waiters.removeConcerned(by: [change]) == [7])
    }

    /// What this thread has computed: what others do meanwhile doesn't count.
    private static var timeOfThread: Duration {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }

    /// What is kept is cut while everybody waits for it.
    @Test("Cutting the tail takes hardly any time")
    func cuttingTailIsFast() throws {
        let table = try Self.table("one")
        let tail = HubTail(head: 0, catalog: Catalog())
        let row = HubEntityTable.Row(key: .text("k"), values: SQLiteTable.declared.map { _ in .null })
        var longest = Duration.zero
        for position in Int64(1)...60_000 {
            let change = HubChange(
                table: table, id: "k", position: position, old: nil, new: row, source: nil)
            let start = Self.timeOfThread
            tail.append([change], end: position, in: Catalog())
            longest = max(longest, Self.timeOfThread - start)
        }
        let scope = HubScope(HubPull(behind: 0, of: ["one"]), .full)
        let kept = try #require(tail.changes(behind: 59_000, in: scope, limit: 10_000, bytes: .max))
        #expect(kept.end == 60_000)
        #expect(kept.isWhole)
        #expect(tail.changes(behind: 10, in: scope, limit: 10_000, bytes: .max) == nil, "it was cut")
        // Where what is left was moved once for each part that went, it was more than ten.
        #expect(longest < .seconds(8))
    }
}
