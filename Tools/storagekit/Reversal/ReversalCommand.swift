import ArgumentParser

/// A command that reverts changes: first it is planned, then done.
protocol ReversalCommand: AsyncParsableCommand {
    /// What it does, with what was named looked up in the store.
    func reversalRun() async throws -> ReversalRun
}

extension ReversalCommand {
    func run() async throws { try await reversalRun().run() }
}
