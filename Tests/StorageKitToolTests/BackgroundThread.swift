import Foundation
import Synchronization

/// Work on a thread of its own. Tests that block, as reading from a pipe does, must not wait for a task: tasks share a
/// few threads, and all of them may be blocked.
final class BackgroundThread<Value: Sendable>: Sendable {
    private let result = Mutex<Value?>(nil)
    private let done = DispatchSemaphore(value: 0)

    init(_ body: @escaping @Sendable () -> Value) {
        Thread.detachNewThread { [self] in
            let value = body()
            result.withLock { $0 = value }
            done.signal()
        }
    }

    /// Blocks until the work is done. To be called once.
    func wait() -> Value? {
        done.wait()
        return result.withLock { $0 }
    }
}
