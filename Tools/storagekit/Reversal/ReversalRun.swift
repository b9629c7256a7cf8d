import StorageCore
import StorageLog
import StorageProjections

/// Takes changes back for a command: looks first, asks, then does it and tells what was done.
struct ReversalRun: Sendable {
    let store: StoreOption
    let change: ChangeOptions
    let format: FormatOptions
    let policy: ConflictPolicy
    /// What the command does, for the question.
    let title: String
    typealias Body =
        @Sendable (StorageEngine, ConflictPolicy, _ metadata: CommitMetadata, _ isDryRun: Bool)
        async throws -> RevertReport

    /// Does it, or tries it.
    let body: Body

    func run() async throws {
        try format.require([.human, .json, .jsonl], of: "taking changes back")
        // Opening for writing would make a new store where the name is wrong.
        try await store.openForReading().close()
        let engine = try StorageEngine.openStore(path: store.path(), configuration: StorageConfiguration())
        do {
            let status = try await run(engine)
            try await engine.close()
            if let status { throw status }
        } catch {
            // Whatever was done is done; closing tidies up and its own failure would hide why.
            try? await engine.close()
            throw error
        }
    }

    private func run(_ engine: StorageEngine) async throws -> ExitStatus? {
        // What stands in the way is told as a whole, so it is looked for without refusing.
        let plan = try await body(engine, policy == .refuse ? .skip : policy, change.metadata, true)
        let isRefused = policy == .refuse && !plan.outcome.conflicts.isEmpty
        if change.dryRun || isRefused {
            try write(plan, isDone: false)
            guard isRefused else { return nil }
            throw CommandError(
                .conflict, "Nothing was changed: \(Self.count(plan.outcome.conflicts.count, "conflict")).",
                why: "Those rows have changed since.",
                next: "Add --on-conflict skip to leave them as they are, or --on-conflict overwrite.")
        }
        if plan.outcome.count == 0 {
            try write(plan, isDone: false)
            return nil
        }
        try change.confirm("\(title): \(Self.summary(plan.outcome)). Go on?")
        let report = try await body(engine, policy, change.metadata, false)
        try write(report, isDone: true)
        return report.outcome.conflicts.isEmpty ? nil : .partial
    }

    private func write(_ report: RevertReport, isDone: Bool) throws {
        let output = ResultOutput(format)
        let outcome = report.outcome
        if output.format == .human {
            for conflict in outcome.conflicts { try output.line(Self.line(conflict)) }
            let summary = Self.summary(outcome)
            if outcome.count == 0 {
                if outcome.conflicts.isEmpty { try output.line("Nothing to do.") }
            } else if let commit = report.receipt?.commit {
                try output.line("t:\(commit): \(summary).", .added)
            } else {
                try output.line(isDone ? "Nothing to do." : "Would be done: \(summary).")
            }
        } else {
            try output.document { json in
                json.key("dry_run")
                json.bool(!isDone)
                json.key("commit")
                if let commit = report.receipt?.commit { json.integer(commit) } else { json.null() }
                for (name, count) in [
                    ("inserted", outcome.inserted), ("updated", outcome.updated), ("deleted", outcome.deleted),
                ] {
                    json.key(name)
                    json.integer(Int64(count))
                }
                json.key("conflicts")
                json.beginArray()
                for conflict in outcome.conflicts { Self.write(conflict, to: &json) }
                json.endArray()
            }
        }
        try output.flush()
    }

    private static func summary(_ outcome: RevertOutcome) -> String {
        let parts = [
            (outcome.inserted, "row inserted", "rows inserted"), (outcome.updated, "row updated", "rows updated"),
            (outcome.deleted, "row deleted", "rows deleted"),
        ]
        let texts = parts.filter { $0.0 > 0 }.map { count, one, many in
            "\(ProgressBar.grouped(count)) \(count == 1 ? one : many)"
        }
        return texts.joined(separator: ", ")
    }

    private static func count(_ count: Int, _ word: String) -> String { "\(count) \(word)\(count == 1 ? "" : "s")" }

    private static func target(_ conflict: RevertConflict) -> TargetArgument {
        TargetArgument(
            table: conflict.table, id: conflict.key.map(\.plainText).joined(separator: ","), column: conflict.column)
    }

    private static func line(_ conflict: RevertConflict) -> StyledLine {
        var line = StyledLine("! \(target(conflict))", .removed)
        line.addWord(conflict.reason)
        if let expected = conflict.expected, let found = conflict.found {
            let texts = [expected, found].map { ValueText.text(StorageEvent.Field(column: "", value: $0)) }
            line.addWord("\(texts[0]) → \(texts[1])", .dim)
        }
        return line
    }

    private static func write(_ conflict: RevertConflict, to json: inout JSONWriter) {
        json.beginObject()
        json.key("table")
        json.text(conflict.table)
        json.key("id")
        json.text(conflict.key.map(\.plainText).joined(separator: ","))
        json.key("column")
        conflict.column.map { json.text($0) } ?? json.null()
        json.key("reason")
        json.text(conflict.reason)
        for (name, value) in [("expected", conflict.expected), ("found", conflict.found)] {
            json.key(name)
            if let value { json.value(value) } else { json.null() }
        }
        json.endObject()
    }
}
