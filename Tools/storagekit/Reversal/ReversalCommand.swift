import ArgumentParser

/// A command that reverts changes: it first plans, then applies.
///
/// Each command declares its options itself, for the reason that ``ChangeOptions`` gives: two more levels took five times as long as everything else.
protocol ReversalCommand: AsyncParsableCommand {
    var store: StoreOption { get }
    var conflicts: ConflictOption { get }
    var change: ChangeOptions { get }
    var format: FormatOptions { get }

    /// Returns what the command does, with names resolved in the store.
    func reversalRun() async throws -> ReversalRun
}

extension ReversalCommand {
    func run() async throws { try await reversalRun().run() }

    /// Creates the run for the command's options.
    ///
    /// - Parameters:
    ///   - title: A title for the question.
    ///   - body: Makes the changes, or tries them.
    func reversal(_ title: String, _ body: @escaping ReversalRun.Body) -> ReversalRun {
        ReversalRun(
            store: store, change: change, format: format, policy: conflicts.onConflict.policy, title: title, body: body)
    }
}
