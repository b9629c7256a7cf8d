/// A limit from the design that a benchmark checks.
struct Budget {
    enum Limit {
        case atMost
        case atLeast
    }

    let title: String
    let quantity: Quantity
    let limit: Limit
    let must: Double
    let aim: Double

    /// The measured value in each round; empty if a contender it needs isn't there.
    func values(in result: BenchmarkResult) -> [Double] {
        quantity.values(in: result)
    }

    func verdict(on value: Double) -> String {
        switch limit {
        case .atMost: value <= aim ? "aim" : value <= must ? "must" : "missed"
        case .atLeast: value >= aim ? "aim" : value >= must ? "must" : "missed"
        }
    }
}
