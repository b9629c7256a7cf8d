import Dispatch
import Foundation
import GRDB
import StorageCore
import StorageEntities
import StorageKit
import Synchronization
import TestSupport
import Testing

@testable import StorageLog
@testable import StorageViews

@StorageEntity
struct Rack: Hashable {
    var id: Int
    var floor: Int
    @StorageHasMany(foreignKey: "rackId") var books: [Book] = []
}

@StorageEntity
struct Book: Hashable {
    var id: Int
    var title: String
    var rackId: Int
    @StorageHasMany(foreignKey: "bookId") var loans: [Loan] = []
}

@StorageEntity
struct Loan: Hashable {
    var id: Int
    var reader: String
    var bookId: Int
}

/// The books of a rack, read again whenever one has changed.
private final class BooksOfRack: RelatedContent {
    private let rack: StorageValue
    private(set) var books: [Book] = []

    init(_ rack: StorageValue) { self.rack = rack }

    func reload(_ snapshot: Snapshot) throws {
        guard case .integer(let id) = rack else { throw StaleNode() }
        books = try Row.fetchAll(snapshot.rows, sql: "SELECT id, title FROM books WHERE rackId = ?", arguments: [id])
            .map { Book(id: $0["id"], title: $0["title"], rackId: Int(id)) }
    }

    func apply(_ change: ChangedRow, in snapshot: Snapshot) throws {}

    func finishStep(_ snapshot: Snapshot) throws -> Bool {
        let before = books
        try reload(snapshot)
        return books != before
    }

    var number: Int32 = 0
    func release() {}
    var rowCount: Int { books.count }
}

/// Changes of included rows find the lists that show their owners, and no others.
@Suite struct IncludedRowsTests {
    /// A library of racks on a floor each, with a book each and a loan each.
    private static func open(racks: Int, at folder: TemporaryFolder) async throws -> Storage {
        let url = URL(fileURLWithPath: folder.path("library.sqlite"))
        let storage = try StorageKit.start(at: url) { schema in
            schema.autoSchema(RackRecord.self, BookRecord.self, LoanRecord.self)
        }.facade
        try await storage.write { tx in
            for number in 0..<racks {
                try tx.save(Rack(id: number, floor: number))
                try tx.save(Book(id: number, title: "Book \(number)", rackId: number))
                try tx.save(Loan(id: number, reader: "Nobody", bookId: number))
            }
        }
        return storage
    }

    private typealias RackList = FollowedNode<RelatedListNode<Rack>>

    private static func list(of query: Query<Rack>, _ engine: SubscriptionEngine) throws -> RackList {
        let request = query.request
        return try RackList(engine, stepFault: { $0.fault(on: $1) { [.integer(Int64($0.id))] } }) {
            try RelatedListNode(ListSpec(RowForm(Rack.self), request.rows), including: request.inclusions)
        }
    }

    @Test("A change of an included row wakes the list that shows it, and no other")
    func routing() async throws {
        let folder = try TemporaryFolder()
        let storage = try await Self.open(racks: 50, at: folder)
        let engine = storage.subscriptions
        let lists = try (0..<40).map { floor in
            try Self.list(
                of: storage.query(Rack.self).where { $0.floor == floor }
                    .include(\.books) { $0.include(\.loans) }, engine)
        }
        /// Runs a statement, and says how many lists applied it and whether the commit was held back.
        func work(_ sql: String) async throws -> [Int] {
            let before = await engine.counters
            try await storage.write { try $0.execute(sql) }
            await engine.catchUp()
            let after = await engine.counters
            return [after.wakeups - before.wakeups, after.skipped - before.skipped, after.reloads - before.reloads]
        }
        #expect(try await work("UPDATE books SET title = 'Seven' WHERE id = 7") == [1, 0, 0])
        #expect(try await work("UPDATE loans SET reader = 'Ada' WHERE id = 8") == [1, 0, 0])
        #expect(try await work("UPDATE books SET title = 'Not shown' WHERE id = 45") == [0, 1, 0])
        #expect(try await work("UPDATE loans SET reader = 'Not shown' WHERE id = 45") == [0, 1, 0])
        // It moves from one list to another.
        #expect(try await work("UPDATE books SET rackId = 9 WHERE id = 7") == [2, 0, 0])
        #expect(try await work("UPDATE loans SET reader = 'Ben' WHERE id = 7") == [1, 0, 0])
        // A row comes into a list, and others are included from then on.
        #expect(try await work("UPDATE racks SET floor = 3 WHERE id = 45") == [1, 0, 0])
        #expect(try await work("UPDATE loans SET reader = 'Cem' WHERE id = 45") == [1, 0, 0])
        #expect(try await work("UPDATE racks SET floor = 99 WHERE id = 45") == [1, 0, 0])
        #expect(try await work("UPDATE loans SET reader = 'Dora' WHERE id = 45") == [0, 1, 0])
        #expect(lists[3].state.value.map(\.id) == [3])
        #expect(lists[7].state.value[0].books.isEmpty)
        #expect(Set(lists[9].state.value[0].books.flatMap(\.loans).map(\.reader)) == ["Nobody", "Ben"])
        try await storage.close()
    }

    /// The second of the rows that come into the window can't be read.
    @Test("A list whose move fails is found by what it holds then")
    func failingMove() async throws {
        let folder = try TemporaryFolder()
        let storage = try await Self.open(racks: 10, at: folder)
        let engine = storage.subscriptions
        let request = storage.query(Rack.self).orderBy(\.id).limit(2).include(\.books).request
        let relation = try #require(request.inclusions.first).relation
        let readsLeft = Mutex(Int.max)
        let list = try RackList(engine, stepFault: { $0.fault(on: $1) { [.integer(Int64($0.id))] } }) {
            let level = KeyedLevel<Rack, BooksOfRack>(
                relation, interest: Interest(entity: "books", predicate: nil)
            ) { value, _ in
                let isReadable = readsLeft.withLock { left in
                    left -= 1
                    return left != -1
                }
                guard isReadable else { throw StorageError(.ioError, "The disk failed.", remedy: "Try again.") }
                return BooksOfRack(value)
            } put: { content, rack in
                rack.books = content?.books ?? []
            }
            return try RelatedListNode(
                ListSpec(RowForm(Rack.self), request.rows), [level], by: [relation.column])
        }
        // From here on commits are held back that concern nobody.
        try await storage.write { try $0.execute("UPDATE books SET title = 'Shown' WHERE id = 0") }
        await engine.catchUp()
        readsLeft.withLock { $0 = 1 }
        await #expect(throws: StorageError.self) { try await engine.move(list.handle, offset: 5, limit: 2) }
        try await storage.write { try $0.execute("UPDATE books SET title = 'Changed' WHERE id = 5") }
        await engine.catchUp()
        #expect(list.state.value.map(\.id) == [5, 6])
        #expect(list.state.value.first?.books.map(\.title) == ["Changed"])
        try await storage.close()
    }

    /// More owners than changes of included rows are found by.
    @Test("A list of many rows follows the included rows of each")
    func manyOwners() async throws {
        let folder = try TemporaryFolder()
        let storage = try await Self.open(racks: 1_003, at: folder)
        let engine = storage.subscriptions
        let list = try Self.list(of: storage.query(Rack.self).where { $0.floor >= 0 }.include(\.books), engine)
        func title(_ id: Int) async throws -> String? {
            try await storage.write { try $0.execute("UPDATE books SET title = title || '!' WHERE id = \(id)") }
            await engine.catchUp()
            return list.state.value.first { $0.id == id }?.books.first?.title
        }
        #expect(try await title(1_002) == "Book 1002!")
        // Fewer, and more again.
        try await storage.write { try $0.execute("UPDATE racks SET floor = -1 WHERE id < 10") }
        #expect(try await title(1_002) == "Book 1002!!")
        try await storage.write { try $0.execute("UPDATE racks SET floor = 1 WHERE id < 10") }
        #expect(try await title(3) == "Book 3!")
        try await storage.close()
    }

    /// A commit that only concerns a row that is coming into the list, when the step that brings it has taken in what was
    /// committed and hasn't registered the list again.
    @Test("A commit while a row comes into a list is delivered")
    func commitWhileOwnersChange() async throws {
        let folder = try TemporaryFolder()
        let storage = try await Self.open(racks: 3, at: folder)
        let (store, engine) = (storage.engine, storage.subscriptions)
        let isArmed = Mutex(false)
        let commitOnce = { @Sendable in
            guard
                isArmed.withLock({ armed in
                    defer { armed = false }; return armed
                })
            else { return }
            let done = DispatchSemaphore(value: 0)
            // A thread of its own: those of tasks may all be waiting for this one.
            Thread.detachNewThread {
                defer { done.signal() }
                do {
                    try store.withWriterNow { writer, db in
                        _ = try writer.group(db) {
                            try writer.commit(CommitMetadata()) {
                                try db.execute(sql: "UPDATE books SET title = 'Meanwhile' WHERE id = 2")
                            }
                        }
                    }
                } catch {
                    Issue.record(error)
                }
            }
            done.wait()
        }
        let memory = EvaluatedListSpec<Rack, Int, Int>.Memory(limit: 1_000, byteCount: { _ in 8 }, reserve: { _ in })
        let evaluated = EvaluatedListSpec<Rack, Int, Int>(
            entity: "racks", limit: nil, memory: memory, isBefore: <, predicate: { _ in nil }
        ) { _ in
            .init(RowForm(Rack.self)) { rack in
                commitOnce()
                return (rack.floor, rack.id)
            }
        }
        let interrupting = try FollowedNode(engine, stepFault: { _, _ in nil }) { EvaluatedListNode(evaluated) }
        let list = try Self.list(of: storage.query(Rack.self).where { $0.floor == 1 }.include(\.books), engine)
        // From here on commits are held back that concern nobody.
        try await storage.write { try $0.execute("UPDATE books SET title = 'Shown' WHERE id = 1") }
        await engine.catchUp()
        isArmed.withLock { $0 = true }
        let skipped = await engine.counters.skipped
        try await storage.write { try $0.execute("UPDATE racks SET floor = 1 WHERE id = 2") }
        await engine.catchUp()
        #expect(await engine.counters.skipped == skipped + 1)
        await engine.catchUp()
        #expect(list.state.value.flatMap(\.books).map(\.title) == ["Shown", "Meanwhile"])
        #expect(interrupting.state.value.count == 3)
        try await storage.close()
    }
}
