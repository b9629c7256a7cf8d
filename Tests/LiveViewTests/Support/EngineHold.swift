import Foundation

@testable import StorageViews

/// Keeps the engine of live views from doing anything, so that a test says what it finds when it continues.
struct EngineHold: Sendable {
    private let gate = DispatchSemaphore(value: 0)

    init(_ engine: SubscriptionEngine) async {
        let gate = gate
        await withCheckedContinuation { begun in
            // A thread of its own: those of tasks may all be waiting.
            Thread.detachNewThread {
                engine.now { _ in
                    begun.resume()
                    gate.wait()
                }
            }
        }
    }

    /// To be called once.
    func end() { gate.signal() }
}
