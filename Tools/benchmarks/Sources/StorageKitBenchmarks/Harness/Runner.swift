import Foundation

/// Runs a contest in interleaved rounds: A B A B, each run in a fresh directory.
struct Runner {
    let rounds: Int
    let root: URL
    /// Parts of the names of those who run; everybody where there is none.
    let names: [String]
    /// Gets what is going on, one line at a time.
    let progress: (String) -> Void

    var shared: URL { root.appendingPathComponent("shared", isDirectory: true) }

    func run(_ benchmark: Benchmark) async throws -> BenchmarkResult {
        let contest = try await inFreshDirectory { try await benchmark.contest($0) }
        let contenders = contest.contenders.filter { contender in
            names.isEmpty || names.contains { contender.name.contains($0) }
        }
        var samples = [[Sample]](repeating: [], count: contenders.count)
        for round in 1...rounds {
            for (index, contender) in contenders.enumerated() {
                let sample = try await inFreshDirectory { try await measure(contender, in: $0) }
                samples[index].append(sample)
                let milliseconds = Format.number(sample.wallSeconds * 1_000)
                progress("\(benchmark.id) round \(round)/\(rounds) \(contender.name): \(milliseconds) ms")
            }
        }
        return BenchmarkResult(
            benchmark: benchmark,
            operations: contest.operations,
            contenders: zip(contenders, samples).map { ContenderResult(name: $0.name, samples: $1) })
    }

    private func measure(_ contender: Contender, in workspace: Workspace) async throws -> Sample {
        try await contender.prepare(workspace)
        // What earlier runs left to be written must not slow down this one.
        sync()
        let memoryBefore = ResidentMemory.restartPeak()
        let stolenBefore = StolenTime.seconds()
        let cpuBefore = ProcessTime.cpuSeconds()
        let start = ContinuousClock.now
        let metrics = try await contender.run()
        let wall = ContinuousClock.now - start
        let cpu = ProcessTime.cpuSeconds() - cpuBefore
        let stolen = stolenBefore.flatMap { before in StolenTime.seconds().map { $0 - before } }
        let memoryPeak = ResidentMemory.peak()
        try await contender.cleanup()
        return Sample(
            wallSeconds: wall / .seconds(1),
            cpuSeconds: cpu,
            peakGrowthBytes: memoryBefore.flatMap { before in memoryPeak.map { max(0, $0 - before) } },
            stolenSeconds: stolen,
            metrics: metrics)
    }

    private func inFreshDirectory<Result>(_ body: (Workspace) async throws -> Result) async throws -> Result {
        let directory = root.appendingPathComponent("run-" + UUID().uuidString, isDirectory: true)
        for each in [directory, shared] {
            try FileManager.default.createDirectory(at: each, withIntermediateDirectories: true)
        }
        let result = try await body(Workspace(directory: directory, shared: shared))
        try FileManager.default.removeItem(at: directory)
        return result
    }
}
