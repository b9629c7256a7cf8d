package import GRDB
internal import Synchronization

extension StorageEngine {
    /// Makes a commit, or only tries it, and returns its body's result.
    ///
    /// - Parameter keeps: Whether the body's result is worth a commit; if not, none is made.
    /// - Returns: The body's result, nil if an earlier commit with the same idempotency key replaces this one; and the receipt,
    ///   nil if no commit was made.
    package func commit<Outcome: Sendable>(
        _ metadata: CommitMetadata, isDryRun: Bool,
        keeps: @escaping @Sendable (Outcome) -> Bool = { _ in true },
        _ body: @escaping @Sendable (LogWriter, GRDB.Database) throws -> Outcome
    ) async throws -> (outcome: Outcome?, receipt: CommitReceipt?) {
        let report = Report<Outcome>()
        do {
            let receipt = try await commit(metadata) { writer, db in
                let outcome = try body(writer, db)
                let isKept = !isDryRun && keeps(outcome)
                report.outcome.withLock { $0 = outcome }
                guard !isKept else { return }
                // What would fail after the body, or at the commit's end, fails here.
                try writer.checkBody()
                if isDryRun { try writer.checkChanges() }
                throw DryRun()
            }
            return (report.outcome.withLock { $0 }, receipt)
        } catch is DryRun {
            return (report.outcome.withLock { $0 }, nil)
        }
    }
}

/// Ends a commit that isn't to be kept.
private struct DryRun: Error {}

private final class Report<Outcome: Sendable>: Sendable {
    let outcome = Mutex<Outcome?>(nil)
}
