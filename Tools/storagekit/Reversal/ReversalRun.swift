import StorageKit

/// Reverts changes for a command: plans, asks, then applies and reports.
struct ReversalRun: Sendable {
    let store: StoreOption
    let change: ChangeOptions
    let format: FormatOptions
    let policy: ConflictPolicy
    /// What the command does, for the question; behind it comes the commit that it is about.
    let title: String
    typealias Body =
        @Sendable (Storage, ConflictPolicy, _ metadata: CommitMetadata, _ isDryRun: Bool)
        async throws -> RevertReport

    /// Does it, or tries it.
    let body: Body

    func run() async throws {
        try format.require([.human, .json, .jsonl], of: "This command")
        if let status = try await store.write(isDryRun: change.dryRun, run(in:)) { throw status }
    }

    /// Which commit is taken back, by whom it was and why: what makes sense of a plan.
    private func subject(of report: RevertReport, in storage: Storage) async throws -> StyledLine? {
        guard let number = report.revertedCommit else { return nil }
        return try await storage.readHistory { store in
            try store.index.commit(number).map { commit in
                var line = StyledLine("t:\(number)", .heading)
                line.addWord(Timestamp.text(commit.info.time))
                line.addWord(CommitText.author(commit.info.metadata))
                line.addWord(CommitText.reason(commit.info.metadata), .dim)
                return line
            }
        }
    }

    private func run(in storage: Storage) async throws -> ExitStatus? {
        // All conflicts are reported together, so the plan doesn't abort at the first.
        let plan = try await body(storage, policy == .abort ? .skip : policy, change.metadata, true)
        let subject = try await subject(of: plan, in: storage)
        let catalog = try await storage.readHistory { $0.catalog }
        let isRefused = policy == .abort && !plan.outcome.conflicts.isEmpty
        if change.dryRun || isRefused {
            try write(plan, about: subject, catalog: catalog, isDone: false)
            guard isRefused else { return nil }
            throw CommandError(
                .conflict, "Nothing was changed: \(NumberText.count(plan.outcome.conflicts.count, "conflict")).",
                why: "Those rows have changed since, or other rows conflict with them.",
                next: "Add --on-conflict skip to leave them unchanged, or --on-conflict overwrite.")
        }
        if plan.outcome.count == 0 {
            try write(plan, about: subject, catalog: catalog, isDone: true)
            return plan.outcome.conflicts.isEmpty ? nil : .partial
        }
        let name = subject.map { " \($0.rendered(.plain, width: nil))" } ?? ""
        try change.confirm("\(title)\(name): \(Self.summary(plan.outcome)). Continue?")
        let report = try await body(storage, policy, change.metadata, false)
        try write(report, about: subject, catalog: catalog, isDone: true)
        return report.outcome.conflicts.isEmpty ? nil : .partial
    }

    /// So many rows are printed for people before it is applied.
    private static let rowLimit = 20

    private func write(
        _ report: RevertReport, about subject: StyledLine?, catalog: Catalog, isDone: Bool
    ) throws {
        let output = ResultOutput(format)
        let outcome = report.outcome
        if output.format == .human {
            if !isDone {
                if let subject { try output.line(subject) }
                for row in report.plan.prefix(Self.rowLimit) {
                    try output.line(row.changeLine(indent: 0))
                    for line in row.columnLines(indent: 4) { try output.line(line) }
                }
                let hiddenCount = outcome.count - Self.rowLimit
                if hiddenCount > 0 { try output.line("… and \(NumberText.grouped(hiddenCount)) more", .dim) }
            }
            for conflict in outcome.conflicts { try output.line(Self.line(conflict, catalog)) }
            let summary = Self.summary(outcome)
            if outcome.count == 0 {
                if outcome.conflicts.isEmpty { try output.line("Nothing to do.") }
            } else if let commit = report.receipt?.commit {
                try output.line("t:\(commit): \(summary).", .added)
            } else {
                try output.line(isDone ? "Nothing to do." : "Would be done: \(summary).")
            }
        } else {
            try output.document(RevertRecord(report: report, catalog: catalog, isDone: isDone))
        }
        try output.flush()
    }

    private static func summary(_ outcome: RevertOutcome) -> String {
        let parts = [
            (outcome.inserted, "row inserted", "rows inserted"), (outcome.updated, "row updated", "rows updated"),
            (outcome.deleted, "row deleted", "rows deleted"),
        ]
        let texts = parts.filter { $0.0 > 0 }.map { NumberText.count($0, $1, plural: $2) }
        return texts.joined(separator: ", ")
    }

    private static func line(_ conflict: RevertConflict, _ catalog: Catalog) -> StyledLine {
        let entity = catalog.entity(named: conflict.table)
        let target = TargetArgument(
            table: conflict.table, id: KeyText.text(of: conflict.key, in: entity), column: conflict.column)
        var line = StyledLine("! \(target)", .removed)
        line.addWord(conflict.reason)
        if let expected = conflict.expected, let found = conflict.found {
            let column = conflict.column.flatMap { entity?.column(named: $0) }
            let texts = [expected, found].map { value in
                ValueText.text(
                    StorageEvent.Field(
                        column: "", value: value, type: column?.type ?? "", coding: column?.coding ?? ""))
            }
            line.addWord("\(texts[0]) → \(texts[1])", .dim)
        }
        return line
    }

}
