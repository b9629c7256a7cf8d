import GRDB
import StorageCore
import StorageEntities
import Testing

@testable import StorageLog
@testable import StorageViews

/// What rows in groups tell.
@Suite struct GroupStepTests {
    /// A row that changes its group moves there, and a group that has more rows than before moves up.
    @Test("Rows and groups move")
    func rowsAndGroupsMove() async throws {
        let store = try await RoutedStore.open { _ in }
        let engine = SubscriptionEngine(LiveSource(store))
        _ = try await store.commit(CommitMetadata()) { _, db in
            try db.execute(sql: "INSERT INTO rows(id, i) VALUES ('a', 1), ('b', 1), ('c', 1), ('d', 2), ('e', 2)")
        }
        let spec = GroupOracle.Spec(RoutedStore.form, RowRequest(), order: .count(ascending: false)) { $0[1] }
        let view = try GroupOracle(spec, engine)
        _ = try await store.commit(CommitMetadata()) { _, db in
            try db.execute(sql: "UPDATE rows SET i = 2 WHERE id = 'b'")
        }
        await engine.catchUp()
        #expect(
            view.steps.count { if case .move(_, let from, let to) = $0 { from.section != to.section } else { false } }
                == 1)
        #expect(view.steps.count { if case .moveSection = $0 { true } else { false } } == 1)
        let fault = try await store.read { try view.fault($0) }
        #expect(fault == nil)
    }

    @Test("Groups of a query with a limit are refused")
    func groupedQueryWithLimit() async throws {
        let store = try await RoutedStore.open { _ in }
        let engine = SubscriptionEngine(LiveSource(store))
        let spec = GroupOracle.Spec(RoutedStore.form, RowRequest(limit: 3), order: .count(ascending: true)) { $0[1] }
        #expect(throws: StorageError.self) { _ = try GroupOracle(spec, engine) }
    }
}
