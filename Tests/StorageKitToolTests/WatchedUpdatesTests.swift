import StorageKit
import Testing

@testable import StorageKitTool

/// What `watch` keeps for a reader that is slower than the commits.
@Suite struct WatchedUpdatesTests {
    @Test("All that waits for a slow reader is one update, with no more steps than are worth it")
    func slowReader() async throws {
        let updates = WatchedUpdates()
        var rows: [[StorageValue]] = []
        updates.put(ListUpdate([[.integer(1), .text("first")]], at: 1))
        try #require(try await updates.next()).apply(to: &rows)
        #expect(rows == [[.integer(1), .text("first")]])
        for number in 2...10_000 {
            var update = ListUpdate<[StorageValue]>()
            update.position = Int64(number)
            update.changes = [.update([.integer(1), .text("\(number)")], at: 0)]
            updates.put(update)
        }
        updates.end()
        let update = try #require(try await updates.next())
        #expect(update.changes.count <= 256)
        #expect(update.position == 10_000)
        update.apply(to: &rows)
        #expect(rows == [[.integer(1), .text("10000")]])
        let last = try await updates.next()
        #expect(last == nil)
    }

    @Test("An error doesn't hide the changes before it, and a failure comes behind them")
    func errors() async throws {
        let updates = WatchedUpdates()
        updates.put(ListUpdate([[.integer(1)]], at: 1))
        var error = ListUpdate<[StorageValue]>()
        error.error = StorageError(.ioError, "The disk refused.", remedy: "Try again.")
        updates.put(error)
        updates.end(throwing: StorageError(.closed, "The store is closed.", remedy: "Open it."))
        let update = try #require(try await updates.next())
        #expect(update.whole == [[.integer(1)]])
        #expect(update.error?.code == .ioError)
        let failure = await #expect(throws: StorageError.self) { try await updates.next() }
        #expect(failure?.code == .closed)
    }
}
