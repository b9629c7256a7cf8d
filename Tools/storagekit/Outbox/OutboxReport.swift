import StorageKit
import StorageSync

/// Reports what `retry` and `discard` would do, or have done.
struct OutboxReport: Sendable {
    let action: OutboxCommand.Action
    let format: FormatOptions

    /// - Parameter outboxes: The outboxes to change, each with its writes to change.
    func write(_ outboxes: [OutboxStatus], isDryRun: Bool) throws {
        let output = ResultOutput(format)
        if output.format == .human {
            try writeText(outboxes, isDryRun: isDryRun, to: output)
        } else {
            try output.document(
                OutboxReportRecord(
                    action: action.rawValue, isDryRun: isDryRun, outcome: OutboxOutcome(outboxes: outboxes)))
        }
        try output.flush()
    }

    private func writeText(_ outboxes: [OutboxStatus], isDryRun: Bool, to output: ResultOutput) throws {
        guard !outboxes.isEmpty else { return try output.line("Nothing to \(action.rawValue).", .dim) }
        let sentence = sentence(outboxes, isDone: !isDryRun)
        try output.line(isDryRun ? "Would be done: \(sentence)." : "\(sentence).", isDryRun ? .plain : .added)
        switch action {
        case .list: break
        case .retry: try output.line("The writes are sent the next time the program uses its engines.", .dim)
        case .discard:
            try output.line(
                "Rows don't change until the program uses its engines again. Then each document is reset", .dim)
            try output.line("to the remote's last known version plus the remaining writes, or deleted.", .dim)
            let sent = outboxes.flatMap(\.writes).count { $0.state == .sent }
            if sent > 0 {
                try output.line(
                    "! \(NumberText.count(sent, "write")) may have reached the remote: there was no answer.", .removed)
            }
        }
    }

    /// What is done, without a full stop.
    func sentence(_ outboxes: [OutboxStatus], isDone: Bool) -> String {
        let keys = Set(outboxes.map(\.manager)).sorted().joined(separator: ", ")
        let writes = outboxes.flatMap(\.writes)
        let documents = Set(writes.map(\.documentId))
        let what = "\(NumberText.count(writes.count, "write")) of \(NumberText.count(documents.count, "document"))"
        switch action {
        case .list: return ""
        case .retry where writes.isEmpty: return "\(isDone ? "Ended" : "End") the wait of \(keys)"
        case .retry: return "\(isDone ? "Ended" : "End") the wait of \(keys), \(what) to be sent again"
        case .discard: return "\(isDone ? "Discarded" : "Discard") \(what) of \(keys)"
        }
    }

}
