/// What views add to commits, measured by commits with views and without in turns on one store, so that whatever else the
/// machine does meets both.
enum LiveTurns {
    static let addedMetric = "µs added by views"
    static let addedCPUMetric = "µs of CPU added by views"
    private static let turnsOfMany = 5
    private static let turnsOfOne = 20
    private static let settlingTries = 600
    /// Commits behind which whatever the views' coming and going has left to do is done.
    private static let warmUps = 50

    static func name(views: Int) -> String {
        "\(ContenderName.storageKit), \(Format.count(views)) view\(views == 1 ? "" : "s") in turns with nobody looking"
    }

    private struct Turn {
        let microseconds: Double
        let cpuMicroseconds: Double
    }

    /// - Parameter workload: Its commits are those of one turn.
    static func contender(_ workload: LiveWorkload) -> Contender {
        let turns = workload.questions.count > 1 ? turnsOfMany : turnsOfOne
        return Contender(
            name(views: workload.questions.count),
            prepare: { try await StorageKitLiveStore(workload, in: $0) },
            run: { store in
                var number = 0
                var added: [Double] = []
                var addedCPU: [Double] = []
                for _ in 0..<turns {
                    let with = try await watched(store, workload, &number)
                    let without = try await turn(store, workload, &number)
                    added.append(with.microseconds - without.microseconds)
                    addedCPU.append(with.cpuMicroseconds - without.cpuMicroseconds)
                }
                return [
                    Metric(name: addedMetric, value: Spread(added)?.median ?? 0),
                    Metric(name: addedCPUMetric, value: Spread(addedCPU)?.median ?? 0),
                    Metric(name: "least of it in a turn", value: addedCPU.min() ?? 0),
                    Metric(name: "most of it in a turn", value: addedCPU.max() ?? 0),
                ]
            },
            cleanup: { try await $0.close() })
    }

    private static func watched(
        _ store: StorageKitLiveStore, _ workload: LiveWorkload, _ number: inout Int
    ) async throws -> Turn {
        let arrivals = LiveArrivals(views: workload.questions.count)
        arrivals.expect(.anything, of: .everybody)
        let followers = try await store.follow(workload.questions, arrivals)
        _ = try await arrivals.last()
        let turn = try await turn(store, workload, &number)
        withExtendedLifetime(followers) {}
        return turn
    }

    /// A commit's time, and its CPU.
    private static func turn(
        _ store: StorageKitLiveStore, _ workload: LiveWorkload, _ number: inout Int
    ) async throws -> Turn {
        try await settle()
        for _ in 0..<warmUps { try await commit(store, workload, &number) }
        var times: [Duration] = []
        let cpu = ProcessTime.cpuSeconds()
        for _ in 0..<workload.commits {
            let start = ContinuousClock.now
            try await commit(store, workload, &number)
            times.append(.now - start)
        }
        let spent = (ProcessTime.cpuSeconds() - cpu) * 1_000_000 / Double(workload.commits)
        return Turn(microseconds: times.microseconds(percentile: 50), cpuMicroseconds: spent)
    }

    /// Making and giving up many views goes on in the background, which isn't the commits' CPU.
    private static func settle() async throws {
        for _ in 0..<settlingTries {
            let before = ProcessTime.cpuSeconds()
            try await Task.sleep(for: .milliseconds(100))
            if ProcessTime.cpuSeconds() - before < 0.002 { return }
        }
        throw BenchmarkError("The store doesn't come to rest after views were made or given up.")
    }

    private static func commit(
        _ store: StorageKitLiveStore, _ workload: LiveWorkload, _ number: inout Int
    ) async throws {
        let commit = workload.commit(number)
        number += 1
        try await store.write(commit)
    }
}
