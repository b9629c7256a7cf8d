/// What a benchmark found.
struct BenchmarkResult {
    let benchmark: Benchmark
    let operations: Int
    let contenders: [ContenderResult]

    func contender(_ name: String) -> ContenderResult? {
        contenders.first { $0.name == name }
    }

    /// One quotient per round: neighbours in time share the mood of the machine, medians of different times don't.
    static func ratios(_ numerators: [Double], to denominators: [Double]) -> [Double] {
        zip(numerators, denominators).compactMap { $1 > 0 ? $0 / $1 : nil }
    }
}
