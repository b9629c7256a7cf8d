/// What a budget limits, always of the StorageKit contender.
enum Quantity {
    case wallRatio(to: String)
    case cpuRatio(to: String)
    /// How many times faster than another contender, by wall time.
    case speedup(over: String)
    case operationsPerSecond
    case millisecondsPerOperation
    case peakGrowthMegabytes
    case metric(String)

    func values(in result: BenchmarkResult) -> [Double] {
        guard let subject = result.contender(ContenderName.storageKit) else { return [] }
        let operations = Double(result.operations)
        switch self {
        case .wallRatio(let reference):
            return BenchmarkResult.ratios(subject.wallSeconds, to: result.contender(reference)?.wallSeconds ?? [])
        case .cpuRatio(let reference):
            return BenchmarkResult.ratios(subject.cpuSeconds, to: result.contender(reference)?.cpuSeconds ?? [])
        case .speedup(let reference):
            return BenchmarkResult.ratios(result.contender(reference)?.wallSeconds ?? [], to: subject.wallSeconds)
        case .operationsPerSecond:
            return subject.wallSeconds.map { operations / $0 }
        case .millisecondsPerOperation:
            return subject.wallSeconds.map { $0 * 1_000 / operations }
        case .peakGrowthMegabytes:
            return subject.peakGrowthBytes.map { $0 / 1_000_000 }
        case .metric(let name):
            return subject.metric(name)
        }
    }

    var unit: String {
        switch self {
        case .wallRatio: "× its time"
        case .cpuRatio: "× its CPU"
        case .speedup: "× faster"
        case .operationsPerSecond: "/s"
        case .millisecondsPerOperation: "ms"
        case .peakGrowthMegabytes: "MB"
        case .metric(let name): name
        }
    }
}
