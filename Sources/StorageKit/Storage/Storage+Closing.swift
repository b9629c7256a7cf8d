internal import StorageCore
internal import StorageLog
internal import StorageProjections

extension Storage {
    /// Lets projections apply what is committed by now, then seals what is full: what is better done before the store is closed.
    ///
    /// - Throws: `CancellationError` as soon as the task is cancelled; the work goes on after the next opening then.
    package func finishWork() async throws {
        do {
            try await runtime.waitForRunning(through: head)
            try await engine.seal()
        } catch let error as StorageError where error.code == .closed || error.code == .readOnly {
            // Somebody has closed it already, or it is somebody else's work.
        }
    }
}
