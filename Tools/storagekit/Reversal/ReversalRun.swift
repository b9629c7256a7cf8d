import StorageKit

/// Reverts changes for a command: plans, asks, then applies and reports.
struct ReversalRun: Sendable {
    let store: StoreOption
    let change: ChangeOptions
    let format: FormatOptions
    let policy: ConflictPolicy
    /// The command's title in the question, followed by the commit.
    let title: String
    typealias Body =
        @Sendable (Storage, ConflictPolicy, _ metadata: CommitMetadata, _ isDryRun: Bool)
        async throws -> RevertReport

    /// Makes the changes, or tries them.
    let body: Body

    /// The planned changes.
    struct Plan: Sendable {
        let title: String
        let report: RevertReport
        /// The reverted commit with its author and reason, which make a plan understandable.
        let subject: StyledLine?
        let catalog: Catalog
        /// Whether there are conflicts, and no option says what to do about them.
        let isRefused: Bool

        /// `Undo t:12  2024-05-01T10:00:00Z  anna: 1 row updated. Continue?`
        var question: String {
            let name = subject.map { " \($0.plain)" } ?? ""
            return "\(TerminalText.visible(title))\(name): \(PlanText.summary(of: report.outcome)). Continue?"
        }
    }

    func run() async throws {
        try format.require([.human, .json, .jsonl], of: "This command")
        if let status = try await store.write(isDryRun: change.dryRun, run(in:)) { throw status }
    }

    private func run(in storage: Storage) async throws -> ExitStatus? {
        let plan = try await plan(in: storage)
        let outcome = plan.report.outcome
        if change.dryRun || plan.isRefused {
            try write(plan, isDone: false)
            guard plan.isRefused else { return nil }
            throw Self.refusal(
                plan, next: "Add --on-conflict skip to leave them unchanged, or --on-conflict overwrite.")
        }
        if outcome.count == 0 {
            try write(plan, isDone: true)
            return outcome.conflicts.isEmpty ? nil : .partial
        }
        if !change.yes, format.format == .human { try showPlan(plan) }
        try change.confirm(shown: plan.question)
        let done = try await apply(plan, in: storage)
        try OutputFailure.reporting(commit: done.report.receipt?.commit) { try write(done, isDone: true) }
        return done.report.outcome.conflicts.isEmpty ? nil : .partial
    }

    /// Shows the rows before the question, as a dry run does.
    private func showPlan(_ plan: Plan) throws {
        let output = ResultOutput(format)
        output.needsReader = false
        try PlanText.write(plan.report.plan, of: plan.report.outcome.count, to: output)
        try output.flush()
    }

    private func write(_ plan: Plan, isDone: Bool) throws {
        let output = ResultOutput(format)
        output.needsReader = false
        if output.format == .human {
            let lines = isDone ? plan.noteLines : plan.lines()
            for line in lines { try output.line(line) }
            if isDone, let result = plan.resultLine(isDone: true) { try output.line(result) }
        } else {
            try output.document(RevertRecord(report: plan.report, catalog: plan.catalog, isDone: isDone))
        }
        try output.flush()
    }
}

// MARK: Steps

extension ReversalRun {
    /// Tries the changes and discards them. All conflicts are reported together, so the plan doesn't abort at the first.
    func plan(in storage: Storage) async throws -> Plan {
        let report = try await body(storage, policy == .abort ? .skip : policy, change.metadata, true)
        let (subject, catalog) = try await storage.readHistory { store in
            (try Self.subject(of: report, in: store), store.catalog)
        }
        return Plan(
            title: title, report: report, subject: subject, catalog: catalog,
            isRefused: policy == .abort && !report.outcome.conflicts.isEmpty)
    }

    /// Applies a plan.
    func apply(_ plan: Plan, in storage: Storage) async throws -> Plan {
        let report = try await body(storage, policy, change.metadata, false)
        return Plan(title: title, report: report, subject: plan.subject, catalog: plan.catalog, isRefused: false)
    }

    /// Returns only the plan; made on a copy if another program has the store open for writing.
    func planned() async throws -> Plan { try await store.write(isDryRun: true) { try await plan(in: $0) } }

    /// Applies exactly the plan that a user has seen and confirmed.
    func applyConfirmed(_ confirmed: Plan) async throws -> Plan {
        try await store.write(isDryRun: false) { storage in
            let plan = try await plan(in: storage)
            guard plan.report == confirmed.report else {
                throw CommandError(
                    .conflict, "Nothing was changed: the store has changed since the plan was made.",
                    next: "Make the plan again, and confirm that.")
            }
            return try await apply(plan, in: storage)
        }
    }

    static func refusal(_ plan: Plan, next: String) -> CommandError {
        CommandError(
            .conflict, "Nothing was changed: \(NumberText.count(plan.report.outcome.conflicts.count, "conflict")).",
            why: "Those rows have changed since, or other rows conflict with them.", next: next)
    }

    private static func subject(of report: RevertReport, in store: HistoryReader) throws -> StyledLine? {
        guard let number = report.revertedCommit else { return nil }
        return try store.index.commit(number).map { commit in
            var line = StyledLine(.commit(number), .heading)
            line.addWord(Timestamp.shown(commit.info.time))
            line.addWord(CommitText.author(commit.info.metadata))
            line.addWord(CommitText.reason(commit.info.metadata), .dim)
            return line
        }
    }
}
