import ArgumentParser
import StorageKit

/// `storagekit revert`: reverts commits.
struct RevertCommand: ReversalCommand {
    static let configuration = CommandConfiguration(
        commandName: "revert", abstract: "Revert a commit, or a range of commits.",
        discussion: """
            Writes a commit that sets each column back to its old value if it still has the value that the reverted \
            commit set. A later change is a conflict: by default nothing is changed, and the conflicts are listed. \
            Schema changes, tags, notes and operations aren't reverted. A range A..B is reverted as a whole. Exits \
            with status 7 for conflicts, 8 if some were skipped.

              storagekit revert -s app.sqlite t:77 --dry-run
              storagekit revert -s app.sqlite t:77 --reason "wrong import" --yes
              storagekit revert -s app.sqlite t:77 --on-conflict skip
              storagekit revert -s app.sqlite t:70..t:77 --dry-run
            """)

    @Argument(
        help: "The commit, or a range of them: t:77, head, @1234, t:70..t:77.",
        transform: { try RevertedCommits($0, now: SystemTime.now) })
    var commits: RevertedCommits

    @OptionGroup var store: StoreOption
    @OptionGroup var conflicts: ConflictOption
    @OptionGroup var change: ChangeOptions
    @OptionGroup var format: FormatOptions

    func reversalRun() async throws -> ReversalRun {
        let command = self
        let numbers = try await store.read { try command.commits.numbers(in: $0) }
        let title = numbers.count == 1 ? "Revert" : "Revert t:\(numbers.lowerBound) to t:\(numbers.upperBound)"
        return reversal(title) { storage, policy, metadata, isDryRun in
            try await storage.engine.revert(numbers, policy: policy, metadata: metadata, isDryRun: isDryRun)
        }
    }
}

/// A commit, named by any point in it, or the commits of a range.
enum RevertedCommits: Sendable {
    case one(PointArgument)
    case range(PointRange)

    init(_ text: String, now: Int64) throws(GrammarError) {
        self = text.contains("..") ? .range(try PointRange(text, now: now)) : .one(try PointArgument(text, now: now))
    }

    func numbers(in store: HistoryReader) throws -> ClosedRange<Int64> {
        switch self {
        case .one(let point):
            let number = try store.commit(of: point).info.number
            return number...number
        case .range(let range):
            let logRange = try store.logRange(range)
            guard !logRange.isEmpty else {
                throw CommandError(
                    .notFound, "There is no commit in \(logRange).",
                    next: "Write the older point first, as in t:70..t:77.")
            }
            let first = try store.commit(of: .position(logRange.after + 1))
            let last = try store.commit(of: .position(logRange.through))
            guard first.positions.lowerBound == logRange.after + 1, last.positions.upperBound == logRange.through else {
                throw CommandError(
                    .usage, "\(logRange) begins or ends inside of a commit.",
                    why: "Commits are reverted as a whole.",
                    next: "Name commits: t:\(first.info.number - 1)..t:\(last.info.number)")
            }
            return first.info.number...last.info.number
        }
    }
}
