import GRDB
import StorageCore
import Synchronization
import Testing

@testable import StorageLog
@testable import StorageViews

/// However much comes together for a reader, it is bounded, and nothing is lost without being said.
@Suite struct ChangeEventUpdateTests {
    private static func row(_ position: Int64) -> ChangeEvent {
        .deleted(tableName: "rows", id: .integer(position), oldData: [:], position: position)
    }

    @Test("Above the limit one event counts them all")
    func countedAboveLimit() {
        var update = ChangeEventUpdate(limit: 3)
        for position in 1...3 { update.append(Self.row(Int64(position))) }
        #expect(update.events == (1...3).map { Self.row(Int64($0)) })
        for position in 4...101 { update.append(Self.row(Int64(position))) }
        #expect(update.weight <= 3)
        var counted = 0
        for event in update.events {
            if case .bulkChange("rows", let count?, _) = event { counted += count } else { counted += 1 }
        }
        #expect(counted == 101)
        #expect(update.events.last?.position == 101)
    }

    @Test("Uncounted changes stay uncounted")
    func uncountedStaysUncounted() {
        var update = ChangeEventUpdate(limit: 2)
        update.append(.bulkChange(tableName: "rows", affectedCount: nil, position: 5))
        for position in 6...8 { update.append(Self.row(Int64(position))) }
        #expect(update.events.first == .bulkChange(tableName: "rows", affectedCount: nil, position: 7))
    }

    @Test("A change of the schema is never merged away")
    func schemaChangeIsKept() {
        var update = ChangeEventUpdate(limit: 2)
        for position in 1...2 { update.append(Self.row(Int64(position))) }
        update.append(.schemaChange(tableName: "rows", position: 3))
        for position in 4...50 { update.append(Self.row(Int64(position))) }
        #expect(update.events.first == .schemaChange(tableName: "rows", position: 3))
        #expect(update.weight <= 2)
    }

    /// What only the database can answer is delivered rather than left out.
    @Test("Raw SQL counts as true")
    func rawSQLCountsAsTrue() async throws {
        let store = try await RoutedStore.open { _ in }
        let engine = SubscriptionEngine(LiveSource(store))
        let text = RowPredicate.comparison(column: "t", .equal, .value("a"))
        let sql = RowPredicate.sql("length(tn) > ?", 3)
        let conditions: [(RowPredicate, reported: Int)] = [
            (text && sql, 1), (text || sql, 2), (text && !sql, 1), (!(text || sql), 1), (!(text && sql), 2),
        ]
        for (predicate, count) in conditions {
            _ = try await store.commit(CommitMetadata()) { _, db in try db.execute(sql: "DELETE FROM rows") }
            let reported = Reported()
            let filter = SubscriptionFilter.relevant(to: predicate, of: "rows", columns: [])
            let handle = try engine.now { engine in
                let pendingUpdate = PendingUpdate<ChangeEventUpdate> { update in
                    reported.events.withLock { $0 += update.events }
                }
                return try engine.add(ChangeEventNode("rows", filter: filter, limit: 10), pendingUpdate)
            }
            _ = try await store.commit(CommitMetadata()) { _, db in
                try db.execute(sql: "INSERT INTO rows(id, t) VALUES ('1', 'a'), ('2', 'b')")
            }
            await engine.catchUp()
            #expect(reported.events.withLock { $0.compactMap(\.id).count } == count, "\(predicate)")
            withExtendedLifetime(handle) {}
        }
    }

    private final class Reported: Sendable {
        let events = Mutex<[ChangeEvent]>([])
    }
}
