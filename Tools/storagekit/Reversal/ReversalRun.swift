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
                line.addWord(Timestamp.shown(commit.info.time))
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
        if !change.confirmation.yes, format.format == .human { try showPlan(plan) }
        let name = subject.map { " \($0.rendered(.plain, width: nil))" } ?? ""
        try change.confirm("\(title)\(name): \(PlanText.summary(of: plan.outcome)). Continue?")
        let report = try await body(storage, policy, change.metadata, false)
        try write(report, about: subject, catalog: catalog, isDone: true)
        return report.outcome.conflicts.isEmpty ? nil : .partial
    }

    /// What the question is about: the rows, as a dry run shows them.
    private func showPlan(_ plan: RevertReport) throws {
        let output = ResultOutput(format)
        try PlanText.write(plan.plan, of: plan.outcome.count, to: output)
        try output.flush()
    }

    private func write(
        _ report: RevertReport, about subject: StyledLine?, catalog: Catalog, isDone: Bool
    ) throws {
        let output = ResultOutput(format)
        let outcome = report.outcome
        if output.format == .human {
            if !isDone {
                if let subject { try output.line(subject) }
                try PlanText.write(report.plan, of: outcome.count, to: output)
            }
            for conflict in outcome.conflicts { try output.line(Self.line(conflict, catalog)) }
            let summary = PlanText.summary(of: outcome)
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
