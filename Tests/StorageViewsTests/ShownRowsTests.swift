import Foundation
import StorageCore
import Synchronization
import TestSupport
import Testing

@testable import StorageViews

/// Where the rows of a view are deallocated.
@MainActor
struct ShownRowsTests {
    /// Counts the threads on which rows were deallocated.
    private final class Counts: Sendable {
        private let counts = Mutex((main: 0, other: 0))
        var main: Int { counts.withLock { $0.main } }
        var other: Int { counts.withLock { $0.other } }
        func add() { counts.withLock { Thread.isMainThread ? ($0.main += 1) : ($0.other += 1) } }
    }

    private final class Row: Sendable {
        private let counts: Counts
        init(_ counts: Counts) { self.counts = counts }
        deinit { counts.add() }
    }

    /// A function of its own, so that nothing refers to the rows any more when it returns.
    private func show(_ count: Int, _ counts: Counts, in state: inout ListState<Row>) {
        _ = state.take(ListUpdate((0..<count).map { _ in Row(counts) }, at: 1))
    }

    @Test("Many rows that are replaced or given up are deallocated on another thread")
    func manyRows() async throws {
        let counts = Counts()
        var state = ListState<Row>()
        show(50_000, counts, in: &state)
        show(2, counts, in: &state)
        try await eventually { counts.other == 50_000 }
        show(50_000, counts, in: &state)
        state = ListState<Row>()
        try await eventually { counts.other == 100_000 }
        #expect(counts.main == 2)
    }

    @Test("A step doesn't copy the rows")
    func step() throws {
        let counts = Counts()
        var state = ListState<Row>()
        show(50_000, counts, in: &state)
        var update = ListUpdate<Row>()
        update.changes = [.remove(at: 0)]
        func address() -> Int { state.value.withUnsafeBufferPointer { Int(bitPattern: $0.baseAddress) } }
        let before = address()
        let fits = state.take(update)
        #expect(fits)
        #expect(address() == before)
        #expect(state.value.count == 49_999)
        #expect(counts.main == 1)
    }
}
