/// All runs of one contender, in the order of the rounds.
struct ContenderResult {
    let name: String
    let samples: [Sample]

    var wallSeconds: [Double] { samples.map(\.wallSeconds) }
    var cpuSeconds: [Double] { samples.map(\.cpuSeconds) }
    var peakGrowthBytes: [Double] { samples.compactMap(\.peakGrowthBytes) }
    var stolenSeconds: [Double] { samples.compactMap(\.stolenSeconds) }

    /// Names of its metrics, in order of appearance.
    var metricNames: [String] {
        var seen: Set<String> = []
        return samples.flatMap(\.metrics).map(\.name).filter { seen.insert($0).inserted }
    }

    func metric(_ name: String) -> [Double] {
        samples.flatMap(\.metrics).filter { $0.name == name }.map(\.value)
    }
}
