import Logging
import StorageKit
import StorageSignals

/// The examples in the comments of `StorageSignals`, compiled and not run.
enum CommentExamples {
    static func report(_ storage: Storage, _ logger: Logger) async throws {
        let reporter = SignalReporter(storage, logger: logger)
        try await withThrowingDiscardingTaskGroup { group in
            group.addTask { try await reporter.run() }
        }
    }
}
