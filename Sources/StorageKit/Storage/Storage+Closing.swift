internal import StorageCore
internal import StorageLog
internal import StorageProjections

extension Storage {
    /// Waits until projections have applied all commits so far, then seals full segments; call it before closing the store.
    ///
    /// - Throws: `CancellationError` as soon as the task is cancelled; the work then continues after the next opening.
    package func finishWork() async throws {
        do {
            try await runtime.waitForRunning(through: head)
            try await engine.seal()
        } catch let error as StorageError where error.code == .closed || error.code == .readOnly {
            // The store is already closed, or open for reading only: then this work belongs to the process that writes.
        }
    }
}
