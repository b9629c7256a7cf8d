/// A store with the views of a workload, ready for its commits.
struct LiveRun: Sendable {
    let store: any LiveStore
    let workload: LiveWorkload
    let arrivals: LiveArrivals
    let followers: [LiveFollower]
    /// What it took until all views had their first value.
    let subscribing: Duration
    let memoryBytes: Double
    /// The first commit that is measured.
    private var first = 0
    private let watch: Task<Void, any Error>

    /// A run that takes so much longer than it should isn't going on.
    private static let patienceSeconds = 300.0
    /// Fewer commits have no percentiles, and may take longer.
    private static let fewCommits = 5

    init(_ store: any LiveStore, _ workload: LiveWorkload) async throws {
        (self.store, self.workload) = (store, workload)
        let arrivals = LiveArrivals(views: workload.questions.count)
        self.arrivals = arrivals
        let before = ResidentMemory.restartPeak() ?? 0
        let start = ContinuousClock.now
        watch = Task {
            try await Task.sleep(for: .seconds(Self.patienceSeconds + workload.limitSeconds))
            arrivals.giveUp()
        }
        arrivals.expect(.anything, of: .everybody)
        followers = try await store.follow(workload.questions, arrivals)
        _ = try await arrivals.last()
        subscribing = .now - start
        memoryBytes = (ResidentMemory.restartPeak() ?? 0) - before
        let ready = ContinuousClock.now
        var warmUps = 0
        while warmUps < workload.warmUps, ContinuousClock.now - ready < .seconds(workload.limitSeconds) {
            _ = try await commit(warmUps)
            warmUps += 1
        }
        first = warmUps
    }

    private struct Times {
        let committed: Duration
        /// Nil where nobody was to show it.
        let shown: Duration?
    }

    private func commit(_ number: Int) async throws -> Times {
        let commit = workload.commit(number)
        arrivals.expect(commit.sign, of: workload.questions.isEmpty ? .nobody : commit.audience)
        let start = ContinuousClock.now
        try await store.write(commit)
        let committed = ContinuousClock.now - start
        return Times(committed: committed, shown: try await arrivals.last().map { $0 - start })
    }

    func measure() async throws -> [Metric] {
        defer { watch.cancel() }
        var times: [Times] = []
        let startCount = arrivals.count
        let before = await store.workOfViews()
        let cpu = ProcessTime.cpuSeconds()
        let start = ContinuousClock.now
        for number in first..<first + workload.commits {
            times.append(try await commit(number))
            let seconds = (ContinuousClock.now - start) / .seconds(1)
            let limit = times.count < Self.fewCommits ? 5 * workload.limitSeconds : workload.limitSeconds
            if seconds > limit { break }
        }
        let cpuSeconds = ProcessTime.cpuSeconds() - cpu
        var metrics = [Metric(name: LiveMetric.commits, value: Double(times.count))]
        let shown = times.compactMap(\.shown)
        if !shown.isEmpty {
            metrics.append(Metric(name: LiveMetric.shownMedian, value: shown.microseconds(percentile: 50)))
            metrics.append(Metric(name: LiveMetric.shownLate, value: shown.microseconds(percentile: 99)))
        }
        metrics.append(Metric(name: LiveMetric.committed, value: times.map(\.committed).microseconds(percentile: 50)))
        metrics.append(Metric(name: LiveMetric.cpu, value: cpuSeconds * 1_000_000 / Double(times.count)))
        if let before, let after = await store.workOfViews() {
            let microseconds = (after.duration - before.duration) / .microseconds(1)
            let statements = Double(after.statements - before.statements)
            metrics.append(Metric(name: LiveMetric.engine, value: microseconds / Double(times.count)))
            metrics.append(Metric(name: LiveMetric.statements, value: statements / Double(times.count)))
        }
        metrics.append(
            Metric(name: LiveMetric.values, value: Double(arrivals.count - startCount) / Double(times.count)))
        let views = Double(followers.count)
        if views > 0 {
            metrics.append(
                Metric(name: LiveMetric.subscribing, value: subscribing / .microseconds(1) / views))
            // Of a few views the system's pages tell nothing.
            if views >= 1_000 {
                metrics.append(Metric(name: LiveMetric.memory, value: memoryBytes / views))
            }
        }
        return metrics
    }
}

/// What live benchmarks find out.
enum LiveMetric {
    static let commits = "commits"
    static let shownMedian = "write to shown µs, p50"
    static let shownLate = "p99"
    static let committed = "of it commit µs, p50"
    static let cpu = "CPU µs a commit"
    static let engine = "engine µs a commit"
    static let statements = "statements a commit"
    static let values = "values delivered a commit"
    static let subscribing = "subscribing µs a view"
    static let memory = "memory B a view"
}

extension [Duration] {
    /// The least value that so many per cent don't exceed.
    func microseconds(percentile: Int) -> Double {
        let sorted = sorted()
        guard !sorted.isEmpty else { return 0 }
        return sorted[Swift.min(count - 1, count * percentile / 100)] / .microseconds(1)
    }
}
