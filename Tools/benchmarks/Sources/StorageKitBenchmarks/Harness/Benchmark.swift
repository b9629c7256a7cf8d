/// A named measurement. Its contest is made when it runs, so that listing benchmarks costs nothing.
struct Benchmark {
    let id: String
    let title: String
    /// What is done and what isn't counted, in a sentence or two for the report.
    let method: String
    var budgets: [Budget] = []
    let contest: (Workspace) async throws -> Contest
}
