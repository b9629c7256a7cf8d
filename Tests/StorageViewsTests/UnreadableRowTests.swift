import GRDB
import StorageCore
import StorageEntities
import Testing

@testable import StorageLog
@testable import StorageRouting
@testable import StorageViews

/// A row that can't be read fails the lists that show it, and no others, although they read rows beside their windows.
@Suite(.timeLimit(.minutes(10))) struct UnreadableRowTests {
    private typealias List = FollowedNode<ListNode<StorageValue>>

    private static func execute(_ sql: String, in store: StorageEngine) async throws {
        _ = try await store.commit(CommitMetadata()) { _, db in try db.execute(sql: sql) }
    }

    private static func open(_ keys: String...) async throws -> StorageEngine {
        let store = try await RoutedStore.open { _ in }
        for key in keys { try await execute("INSERT INTO rows(id, t) VALUES ('\(key)', 'good')", in: store) }
        return store
    }

    /// A list of keys, in their order. A row whose text is `bad` can't be read.
    private static func list(
        _ engine: SubscriptionEngine, offset: Int = 0, limit: Int?, margin: Int? = nil
    ) throws -> List {
        let text = try #require(RoutedStore.columns.firstIndex(of: "t"))
        let form = RowForm(table: RoutedStore.form.table, isShared: false) { row in
            guard row.value(at: Int32(text)) != .text("bad") else {
                throw StorageError(.invalidValue, "The row can't be read.", remedy: "Correct it.")
            }
            return row.value(at: 0)
        }
        let request = RowRequest(orderings: [RowOrdering("id")], limit: limit, offset: offset)
        return try List(engine, stepFault: { $0.fault(on: $1) { [$0] } }) {
            ListNode(ListSpec(form, request, margin: margin))
        }
    }

    private static func keys(_ list: List) -> String {
        list.state.value.map { if case .text(let key) = $0 { key } else { "?" } }.joined()
    }

    @Test("Lists before and behind the row follow the store")
    func besideWindows() async throws {
        let store = try await Self.open("a", "b", "c", "d", "e", "f", "g", "h")
        let engine = SubscriptionEngine(LiveSource(store))
        try await Self.execute("UPDATE rows SET t = 'bad' WHERE id = 'd'", in: store)
        let before = try Self.list(engine, limit: 2)
        let behind = try Self.list(engine, offset: 5, limit: 2)
        let rest = try Self.list(engine, offset: 4, limit: nil)
        #expect([before, behind, rest].map(Self.keys) == ["ab", "fg", "efgh"])
        try await Self.execute("UPDATE rows SET t = 'changed' WHERE id = 'a'", in: store)
        try await Self.execute("DELETE FROM rows WHERE id = 'a'", in: store)
        await engine.catchUp()
        #expect([before, behind, rest].map(Self.keys) == ["bc", "gh", "fgh"])
        #expect([before, behind, rest].allSatisfy { $0.state.error == nil })
        // By steps: none was read again as a whole.
        #expect([before, behind, rest].map(\.state.wholes) == [1, 1, 1])
        // It comes into one of the windows.
        try await Self.execute("DELETE FROM rows WHERE id = 'b'", in: store)
        await engine.catchUp()
        #expect(before.state.error?.code == .invalidValue)
        #expect([before, behind, rest].map(Self.keys) == ["bc", "h", "gh"])
        try await Self.execute("UPDATE rows SET t = 'good' WHERE id = 'd'", in: store)
        await engine.catchUp()
        #expect(before.state.error == nil)
        #expect([before, behind, rest].map(Self.keys) == ["cd", "h", "gh"])
        #expect([before, behind, rest].allSatisfy { $0.state.fault == nil })
    }

    @Test("A list that shows no row needs none", arguments: [0, 1, 4])
    func emptyWindow(offset: Int) async throws {
        let store = try await Self.open("a", "b")
        let engine = SubscriptionEngine(LiveSource(store))
        try await Self.execute("UPDATE rows SET t = 'bad'", in: store)
        let list = try Self.list(engine, offset: offset, limit: 0)
        #expect(list.state.error == nil)
        for sql in [
            "INSERT INTO rows(id, t) VALUES ('c', 'bad')", "UPDATE rows SET t = 'worse' WHERE id = 'a'",
            "DELETE FROM rows WHERE id = 'b'", "UPDATE rows SET t = 'good'",
        ] {
            try await Self.execute(sql, in: store)
            await engine.catchUp()
            #expect(list.state.error == nil, "\(sql)")
            #expect(Self.keys(list) == "", "\(sql)")
        }
        #expect(list.state.fault == nil)
        try await engine.move(list.handle, offset: 0, limit: 2)
        #expect(Self.keys(list) == "ac")
    }

    @Test("A row beside the window may become unreadable, and one that comes there")
    func becomingUnreadable() async throws {
        let store = try await Self.open("b", "c", "d", "e")
        let engine = SubscriptionEngine(LiveSource(store))
        let list = try Self.list(engine, offset: 2, limit: 1)
        #expect(Self.keys(list) == "d")
        for (sql, shown) in [
            ("UPDATE rows SET t = 'bad' WHERE id = 'e'", "d"), ("INSERT INTO rows(id, t) VALUES ('a', 'bad')", "c"),
            ("INSERT INTO rows(id, t) VALUES ('0', 'good')", "b"), ("DELETE FROM rows WHERE id = 'b'", "c"),
        ] {
            try await Self.execute(sql, in: store)
            await engine.catchUp()
            #expect(list.state.error == nil)
            #expect(Self.keys(list) == shown)
        }
        #expect(list.state.fault == nil)
    }

    @Test("A window moves across the row")
    func movingAcross() async throws {
        let store = try await Self.open("a", "b", "c", "d", "e", "f", "g", "h")
        let engine = SubscriptionEngine(LiveSource(store))
        try await Self.execute("UPDATE rows SET t = 'bad' WHERE id = 'd'", in: store)
        let list = try Self.list(engine, limit: 2, margin: 2)
        try await engine.move(list.handle, offset: 5, limit: 2)
        #expect(Self.keys(list) == "fg")
        try await engine.move(list.handle, offset: 1, limit: 2)
        #expect(Self.keys(list) == "bc")
        await #expect(throws: StorageError.self) { try await engine.move(list.handle, offset: 2, limit: 2) }
    }
}
