/// What views add to commits, told by commits with views and without in turns on one store, so that whatever else the
/// machine does meets both.
enum LiveTurns {
    static let addedMetric = "µs added by views"
    static let name = ContenderName.storageKit + ", in turns with nobody looking"
    private static let turns = 20
    /// Commits behind which whatever the views' coming and going has left to do is done.
    private static let warmUps = 20

    /// - Parameter workload: Its commits are those of one turn.
    static func contender(_ workload: LiveWorkload) -> Contender {
        Contender(
            name,
            prepare: { try await StorageKitLiveStore(workload, in: $0) },
            run: { store in
                var number = 0
                var added: [Double] = []
                for _ in 0..<turns {
                    let with = try await watched(store, workload, &number)
                    let without = try await median(store, workload, &number)
                    added.append(with - without)
                }
                added.sort()
                return [Metric(name: addedMetric, value: added[added.count / 2])]
            },
            cleanup: { try await $0.close() })
    }

    private static func watched(
        _ store: StorageKitLiveStore, _ workload: LiveWorkload, _ number: inout Int
    ) async throws -> Double {
        let arrivals = LiveArrivals(views: workload.questions.count)
        arrivals.expect(.anything, of: .everybody)
        let followers = try await store.follow(workload.questions, arrivals)
        _ = try await arrivals.last()
        let median = try await median(store, workload, &number)
        withExtendedLifetime(followers) {}
        return median
    }

    /// Microseconds of a commit.
    private static func median(
        _ store: StorageKitLiveStore, _ workload: LiveWorkload, _ number: inout Int
    ) async throws -> Double {
        var times: [Duration] = []
        for place in 0..<warmUps + workload.commits {
            let commit = workload.commit(number)
            number += 1
            let start = ContinuousClock.now
            try await store.write(commit)
            if place >= warmUps { times.append(.now - start) }
        }
        return times.microseconds(percentile: 50)
    }
}
