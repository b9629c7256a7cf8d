import Foundation
import StorageCore
import Synchronization
import TestSupport
import Testing

@testable import StorageViews

/// Where the rows of a view are deallocated.
@MainActor
struct ShownRowsTests {
    /// Counts the rows that are deallocated while their view changes, on its thread, and all others.
    private final class Counts: Sendable {
        private struct State {
            var thread: pthread_t?
            var (own, other) = (0, 0)
        }

        private let state = Mutex(State())
        var own: Int { state.withLock { $0.own } }
        var other: Int { state.withLock { $0.other } }

        func add() {
            state.withLock { state in
                if state.thread.map({ pthread_equal($0, pthread_self()) != 0 }) == true {
                    state.own += 1
                } else {
                    state.other += 1
                }
            }
        }

        /// Runs the change of a view.
        func change(_ body: () -> Void) {
            state.withLock { $0.thread = pthread_self() }
            body()
            state.withLock { $0.thread = nil }
        }
    }

    private final class Row: Sendable {
        private let counts: Counts
        init(_ counts: Counts) { self.counts = counts }
        deinit { counts.add() }
    }

    private func show(_ count: Int, _ counts: Counts, in state: inout ListState<Row>) {
        counts.change { _ = state.take(ListUpdate((0..<count).map { _ in Row(counts) }, at: 1)) }
    }

    @Test("Many rows that are replaced or given up are deallocated on another thread")
    func manyRows() async throws {
        let counts = Counts()
        var state = ListState<Row>()
        show(50_000, counts, in: &state)
        show(2, counts, in: &state)
        try await eventually { counts.other == 50_000 }
        show(50_000, counts, in: &state)
        counts.change { state = ListState<Row>() }
        try await eventually { counts.other == 100_000 }
        #expect(counts.own == 2)
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
        counts.change { _ = state.take(update) }
        #expect(address() == before)
        #expect(state.value.count == 49_999)
        #expect(counts.own == 1)
    }
}
