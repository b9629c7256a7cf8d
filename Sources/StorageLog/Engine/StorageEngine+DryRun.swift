package import GRDB
internal import Synchronization

extension StorageEngine {
    /// Makes a commit, or only tries it, and hands out what its body says of it.
    ///
    /// - Returns: What the body said, nil where an earlier commit with the same idempotency key stands for this one;
    ///   and the receipt, nil for a dry run.
    package func commit<Outcome: Sendable>(
        _ metadata: CommitMetadata, isDryRun: Bool,
        _ body: @escaping @Sendable (LogWriter, GRDB.Database) throws -> Outcome
    ) async throws -> (outcome: Outcome?, receipt: CommitReceipt?) {
        let report = Report<Outcome>()
        do {
            let receipt = try await commit(metadata) { writer, db in
                let outcome = try body(writer, db)
                report.outcome.withLock { $0 = outcome }
                if isDryRun { throw DryRun() }
            }
            return (report.outcome.withLock { $0 }, receipt)
        } catch {
            guard isDryRun, let outcome = report.outcome.withLock({ $0 }) else { throw error }
            return (outcome, nil)
        }
    }
}

/// Ends a commit that was only to be tried.
private struct DryRun: Error {}

private final class Report<Outcome: Sendable>: Sendable {
    let outcome = Mutex<Outcome?>(nil)
}
