import StorageKit

/// Changes a tag or note for a command: plans it, asks for confirmation when something would be lost, applies and reports.
struct TagRun: Sendable {
    typealias Body =
        @Sendable (Storage, _ metadata: CommitMetadata, _ isDryRun: Bool) async throws -> TagReport

    let store: StoreOption
    let change: ChangeOptions
    let format: FormatOptions
    /// The tag's name; nil for a note.
    let tag: String?

    /// The name of the changed tag or note in messages.
    private var name: String { tag.map { "tag:\($0)" } ?? "the note" }

    init(store: StoreOption, change: ChangeOptions, format: FormatOptions, tag: String?) {
        self.store = store
        self.change = change
        self.format = format
        self.tag = tag
    }

    func run(_ body: Body) async throws {
        try await store.write(isDryRun: change.dryRun) { try await run(in: $0, body) }
    }

    private func run(in storage: Storage, _ body: Body) async throws {
        let plan = try await body(storage, change.metadata, true)
        guard !change.dryRun, plan.change != .none else { return try write(plan) }
        switch plan.change {
        case .moved, .removed, .annotated(isReplacing: true):
            try change.confirm("\(sentence(plan.change, plan.position, isDone: false)). Continue?")
        case .made, .annotated(isReplacing: false), .none: break
        }
        let report = try await body(storage, change.metadata, false)
        try OutputFailure.reporting(commit: report.receipt?.commit) { try write(report) }
    }

    private func sentence(_ change: TagReport.Change, _ position: Int64, isDone: Bool) -> String {
        switch change {
        case .made where tag == nil: isDone ? "Noted at @\(position)" : "Note it at @\(position)"
        case .made: isDone ? "\(name) is at @\(position)" : "Create \(name) at @\(position)"
        case .moved(let from): "\(isDone ? "Moved" : "Move") \(name) from @\(from) to @\(position)"
        case .annotated: "\(isDone ? "Changed" : "Change") the text of \(name) at @\(position)"
        case .removed: "\(isDone ? "Deleted" : "Delete") \(name) at @\(position)"
        case .none: "Nothing to do: \(name) is at @\(position) already"
        }
    }

    private func write(_ report: TagReport) throws {
        let output = ResultOutput(format)
        let commit = report.receipt?.commit
        if output.format == .human {
            if let commit {
                try output.line("t:\(commit): \(sentence(report.change, report.position, isDone: true)).", .added)
            } else if report.change == .none {
                try output.line("\(sentence(.none, report.position, isDone: true)).")
            } else {
                try output.line("Would be done: \(sentence(report.change, report.position, isDone: false)).")
            }
        } else {
            try output.document(TagChangeRecord(report: report, tag: tag, isDryRun: change.dryRun))
        }
        try output.flush()
    }
}
