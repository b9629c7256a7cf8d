import StorageKit

/// The answer of `outbox retry` and `discard`.
///
/// - `dry_run`: Whether nothing was changed.
/// - `action`: `retry` or `discard`.
/// - ``OutboxOutcome``
struct OutboxReportRecord: JSONRecord {
    let action: String
    let isDryRun: Bool
    let outcome: OutboxOutcome

    func write(to json: inout JSONWriter) throws {
        json.member("dry_run", isDryRun)
        json.member("action", action)
        try outcome.write(to: &json)
    }
}
