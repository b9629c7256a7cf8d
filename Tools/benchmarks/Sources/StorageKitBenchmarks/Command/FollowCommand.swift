import ArgumentParser

/// The other process of the benchmark of two processes.
struct FollowCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "follow", abstract: "Follows a store for a benchmark.", shouldDisplay: false)

    @Argument(help: "The store.")
    var path: String

    func run() async throws { try await LiveProcesses.follow(path) }
}
