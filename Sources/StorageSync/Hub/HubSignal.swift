internal import StorageCore
internal import Synchronization

/// Wakes one task that waits, or will wait, once and for all.
///
/// Isolation: `Sendable`, its state behind a mutex.
final class HubSignal: Sendable {
    fileprivate enum State {
        case unset
        case awaited(CheckedContinuation<Void, Never>)
        case set
    }

    private let state = Mutex(State.unset)
    private let firstError = Mutex<StorageError?>(nil)

    /// The first error that it was set with.
    var error: StorageError? { firstError.withLock { $0 } }

    /// Sets it because of an error.
    func fail(_ error: StorageError) {
        firstError.withLock { $0 = $0 ?? error }
        set()
    }

    var isSet: Bool { state.withLock { if case .set = $0 { true } else { false } } }

    func set() {
        let waiting = state.withLock { state in
            defer { state = .set }
            return state.waiting
        }
        waiting?.resume()
    }

    /// Returns when it is set, or the task is cancelled.
    func wait() async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isOver = state.withLock { state in
                    guard case .unset = state, !Task.isCancelled else { return true }
                    state = .awaited(continuation)
                    return false
                }
                if isOver { continuation.resume() }
            }
        } onCancel: {
            let waiting = state.withLock { state in
                defer { if case .awaited = state { state = .unset } }
                return state.waiting
            }
            waiting?.resume()
        }
    }
}

extension HubSignal.State {
    fileprivate var waiting: CheckedContinuation<Void, Never>? {
        if case .awaited(let continuation) = self { continuation } else { nil }
    }
}
