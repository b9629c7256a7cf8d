import StorageKit

/// Plans and results for people.
extension ReversalRun.Plan {
    private var outcome: RevertOutcome { report.outcome }

    /// Returns the planned changes, as a dry run shows them.
    func lines(limit: Int = PlanText.rowLimit) -> [StyledLine] {
        var lines = subject.map { [$0] } ?? []
        lines += PlanText.lines(report.plan, of: outcome.count, limit: limit)
        lines += noteLines
        return lines + (resultLine(isDone: false).map { [$0] } ?? [])
    }

    /// What wasn't or wouldn't be reverted: the conflicts, and the tables that a restore omits.
    var noteLines: [StyledLine] {
        let dropped = report.droppedTables.map { name in
            var line = StyledLine("? \(TargetArgument(table: name))", .changed)
            line.addWord("the table was dropped since, and isn't restored; storagekit at shows its rows of that time")
            return line
        }
        return outcome.conflicts.map { Self.line($0, catalog) } + dropped
    }

    /// Returns `t:13: 1 row updated.`, or what would be done; nil if there are only conflicts.
    func resultLine(isDone: Bool) -> StyledLine? {
        guard outcome.count > 0 else { return outcome.conflicts.isEmpty ? StyledLine("Nothing to do.") : nil }
        let summary = PlanText.summary(of: outcome)
        if let commit = report.receipt?.commit { return PlanText.done(summary, in: commit) }
        return StyledLine(isDone ? "Nothing to do." : "Would be done: \(summary).")
    }

    /// `1 row updated, 2 conflicts`
    var summary: String {
        let count = outcome.conflicts.count
        let conflicts = count > 0 ? [NumberText.count(count, "conflict")] : []
        let changes = outcome.count > 0 ? [PlanText.summary(of: outcome)] : []
        return (changes + conflicts).joined(separator: ", ")
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
