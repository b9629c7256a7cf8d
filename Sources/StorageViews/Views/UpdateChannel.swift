internal import Synchronization

/// Carries updates to one reader at its own pace: what it hasn't taken yet is composed.
///
/// Isolation: `Sendable`, its state behind a mutex.
package final class UpdateChannel<Update: ComposableUpdate>: Sendable {
    private struct State {
        var pending: Update?
        var reader: CheckedContinuation<Update?, Never>?
        var isFinished = false
        var isAbandoned = false
    }

    private let state = Mutex(State())

    /// - Parameter whole: Everything, with this update: told instead where too much has come together.
    func send(_ update: Update, limit: Int, whole: () -> Update) {
        let (reader, isTooMuch) = state.withLock { state -> (CheckedContinuation<Update?, Never>?, Bool) in
            if state.isAbandoned { return (nil, false) }
            if let reader = state.reader {
                state.reader = nil
                return (reader, false)
            }
            if state.pending == nil { state.pending = update } else { state.pending?.append(update) }
            return (nil, (state.pending?.weight ?? 0) > limit)
        }
        reader?.resume(returning: update)
        if isTooMuch {
            let whole = whole()
            state.withLock { state in
                if !state.isAbandoned { state.pending = whole }
            }
        }
    }

    func finish() {
        let reader = state.withLock { state -> CheckedContinuation<Update?, Never>? in
            state.isFinished = true
            return state.reader.take()
        }
        reader?.resume(returning: nil)
    }

    /// The reader has gone: what it hasn't taken is dropped, and so is what is still on its way.
    func abandon() {
        state.withLock { state in
            state.pending = nil
            state.isAbandoned = true
        }
        finish()
    }

    /// Waits for news; nil where none will come any more, or the task is cancelled.
    func next() async -> Update? {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let (known, isKnown) = state.withLock { state -> (Update?, Bool) in
                    if let pending = state.pending {
                        state.pending = nil
                        return (pending, true)
                    }
                    // One reader only: another one that waits already is sent away.
                    if state.isFinished || state.reader != nil || Task.isCancelled { return (nil, true) }
                    state.reader = continuation
                    return (nil, false)
                }
                if isKnown { continuation.resume(returning: known) }
            }
        } onCancel: {
            state.withLock { $0.reader.take() }?.resume(returning: nil)
        }
    }
}

/// Of which only the last one matters.
package struct LatestValue<Value: Sendable>: ComposableUpdate {
    package let value: Value
    package var weight: Int { 0 }
    package mutating func append(_ next: LatestValue) { self = next }
}
