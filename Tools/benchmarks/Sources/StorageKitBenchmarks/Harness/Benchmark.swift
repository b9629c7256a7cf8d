/// A named measurement. Its contest is made when it runs, so that listing benchmarks costs nothing.
struct Benchmark {
    /// How the report shows what was found.
    enum Layout {
        /// Times of all contenders, and the ratio of each to each.
        case duel
        /// A row for each contender with what it has found out itself: for many contenders that do the same with other
        /// numbers.
        case curve
        /// A row for each task with its time in each log, and a line of the report's chart.
        case growth(Growth)
    }

    let id: String
    let title: String
    /// What is done and what isn't counted, in a sentence or two for the report.
    let method: String
    var budgets: [Budget] = []
    var layout = Layout.duel
    let contest: (Workspace) async throws -> Contest
}
