/// What a budget limits, always of the StorageKit contender.
enum Quantity {
    case wallRatio(to: String)
    case cpuRatio(to: String)
    /// What is added to the wall time of another contender, by what a reference adds to another: the price of a
    /// feature with the rest taken off.
    case addedWallRatio(over: String, to: String, overPlain: String)
    /// How many times faster than another contender, by wall time.
    case speedup(over: String)
    case operationsPerSecond
    case millisecondsPerOperation
    case peakGrowthMegabytes
    case metric(String)
    /// What a contender has found out, whichever it is; by what another has; and less that.
    case metricOf(String, String)
    case metricRatio(String, of: String, to: String)
    case metricAdded(String, of: String, over: String)

    func values(in result: BenchmarkResult) -> [Double] {
        switch self {
        case .metricOf(let name, let subject):
            return metric(name, of: subject, in: result)
        case .metricRatio(let name, let subject, let reference):
            return BenchmarkResult.ratios(
                metric(name, of: subject, in: result), to: metric(name, of: reference, in: result))
        case .metricAdded(let name, let subject, let plain):
            return zip(metric(name, of: subject, in: result), metric(name, of: plain, in: result)).map { $0 - $1 }
        default: return valuesOfStorageKit(in: result)
        }
    }

    private func metric(_ name: String, of contender: String, in result: BenchmarkResult) -> [Double] {
        result.contender(contender)?.metric(name) ?? []
    }

    private func valuesOfStorageKit(in result: BenchmarkResult) -> [Double] {
        guard let subject = result.contender(ContenderName.storageKit) else { return [] }
        let operations = Double(result.operations)
        switch self {
        case .wallRatio(let reference):
            return BenchmarkResult.ratios(subject.wallSeconds, to: result.contender(reference)?.wallSeconds ?? [])
        case .cpuRatio(let reference):
            return BenchmarkResult.ratios(subject.cpuSeconds, to: result.contender(reference)?.cpuSeconds ?? [])
        case .addedWallRatio(let plain, let reference, let plainReference):
            let added = Self.added(subject, over: result.contender(plain))
            let referenceAdded = Self.added(result.contender(reference), over: result.contender(plainReference))
            return BenchmarkResult.ratios(added, to: referenceAdded)
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
        case .metricOf, .metricRatio, .metricAdded:
            return []
        }
    }

    private static let units = [
        ToolContenders.firstLineMetric: "ms", ToolContenders.wholeMetric: "ms", ToolContenders.peakMetric: "MB",
    ]

    private static func added(_ contender: ContenderResult?, over plain: ContenderResult?) -> [Double] {
        zip(contender?.wallSeconds ?? [], plain?.wallSeconds ?? []).map { $0 - $1 }
    }

    var unit: String {
        switch self {
        case .wallRatio, .addedWallRatio: "× its time"
        case .cpuRatio: "× its CPU"
        case .speedup: "× faster"
        case .operationsPerSecond: "/s"
        case .millisecondsPerOperation: "ms"
        case .peakGrowthMegabytes: "MB"
        case .metric(let name), .metricOf(let name, _): Self.units[name] ?? name
        case .metricRatio: "×"
        case .metricAdded: "µs"
        }
    }
}
