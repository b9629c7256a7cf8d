/// What users do most, on fixed data. Its preparations aren't counted, and it has run once before it is.
struct HotPath: Sendable {
    let name: String
    /// How many operations are counted: the figures are instructions for one of them.
    let operations: Int
    let summary: String
    /// Prepares the path, and passes what is to be counted to ``Callgrind``.
    let run: @Sendable (HotPathFolder) async throws -> Void

    /// - Parameter run: Is called with the number of operations to count.
    init(
        _ name: String, operations: Int, _ summary: String,
        run: @escaping @Sendable (HotPathFolder, _ operations: Int) async throws -> Void
    ) {
        self.name = name
        self.operations = operations
        self.summary = summary
        self.run = { try await run($0, operations) }
    }
}
