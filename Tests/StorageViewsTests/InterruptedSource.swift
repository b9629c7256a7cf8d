import Foundation
import Synchronization

@testable import StorageLog
@testable import StorageViews

/// The live store, with something happening at a moment that the test chooses: each time that the engine begins to
/// follow, is about to look at a state, holds one, or has given one back.
final class InterruptedSource: FeedSource {
    private struct State {
        var passed = 0
        var moment: Int?
    }

    private let live: LiveSource
    private let state = Mutex(State())
    private let interruption: @Sendable () -> Void

    init(_ engine: StorageEngine, interruption: @escaping @Sendable () -> Void) {
        live = LiveSource(engine)
        self.interruption = interruption
    }

    /// At which moment from now on it happens.
    func arm(_ moment: Int) { state.withLock { $0 = State(passed: 0, moment: moment) } }

    /// Whether it has happened.
    var hasHappened: Bool { state.withLock { state in state.moment.map { state.passed > $0 } ?? false } }

    private func pass() {
        let isNow = state.withLock { state in
            defer { state.passed += 1 }
            return state.passed == state.moment
        }
        guard isNow else { return }
        let done = DispatchSemaphore(value: 0)
        let interruption = interruption
        // A thread of its own: those of tasks may all be waiting for this one.
        Thread.detachNewThread {
            interruption()
            done.signal()
        }
        done.wait()
    }

    var emitsEvents: Bool { live.emitsEvents }
    var needsInterests: Bool { live.needsInterests }

    func read<Result>(_ interests: [Interest], _ body: (FeedState) throws -> Result) throws -> Result {
        pass()
        let result = try live.read(interests) { state in
            pass()
            let result = try body(state)
            pass()
            return result
        }
        pass()
        return result
    }

    var readsBeside: Bool { live.readsBeside }

    func readBeside(
        overlaying rows: [OptimisticRow], _ body: @escaping @Sendable (FeedState) throws -> Void
    ) async throws {
        pass()
        try await live.readBeside(overlaying: rows) { state in
            self.pass()
            try body(state)
            self.pass()
        }
        pass()
    }

    func requestColumns(_ columns: [UInt32]) { live.requestColumns(columns) }

    func start(_ inbox: CommitInbox, closed: @escaping @Sendable () -> Void) {
        pass()
        live.start(inbox, closed: closed)
        pass()
    }

    func stop() { live.stop() }

    func onClose(_ body: @escaping @Sendable () -> Void) -> StorageObservation { live.onClose(body) }
}
