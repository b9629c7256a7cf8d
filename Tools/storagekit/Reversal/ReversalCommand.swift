import ArgumentParser

/// A command that reverts changes: first it is planned, then done.
///
/// Each declares its options itself, for the reason that ``ChangeOptions`` gives: two levels more made five times the work of all the rest.
protocol ReversalCommand: AsyncParsableCommand {
    var store: StoreOption { get }
    var conflicts: ConflictOption { get }
    var change: ChangeOptions { get }
    var format: FormatOptions { get }

    /// What it does, with what was named looked up in the store.
    func reversalRun() async throws -> ReversalRun
}

extension ReversalCommand {
    func run() async throws { try await reversalRun().run() }

    /// What the command does with its options.
    ///
    /// - Parameters:
    ///   - title: What is done, for the question.
    ///   - body: Does it, or tries it.
    func reversal(_ title: String, _ body: @escaping ReversalRun.Body) -> ReversalRun {
        ReversalRun(
            store: store, change: change, format: format, policy: conflicts.onConflict.policy, title: title, body: body)
    }
}
