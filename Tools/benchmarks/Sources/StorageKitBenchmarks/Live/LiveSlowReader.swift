import GRDB
import StorageKit
import Synchronization

/// A reader that takes a second for each value of a page, while commits come one after another.
enum LiveSlowReader {
    static let behindMetric = "s behind at the end"
    static let patienceSeconds = 5.0
    private static let page = 50

    static func contenders(commits: Int) -> [Contender] {
        let workload = LiveWorkload(
            rows: 1_000, questions: [.firstByKey(page)], commits: commits
        ) { LiveCommit(saved: [LivePeople.person($0 % page, after: $0)]) }
        return [
            observing(ContenderName.observation, workload, .unbounded),
            observing(ContenderName.observation + ", newest only", workload, .bufferingNewest(1)),
            Contender(
                ContenderName.storageKit,
                prepare: { try await StorageKitLiveStore(workload, in: $0) },
                run: { store in
                    let query = store.store.storage.query(StoredPerson.self).orderBy(\.id).limit(page)
                    let list = await QuerySubscription(query, start: .immediate)
                    return try await run(workload, store, await list.snapshots)
                },
                cleanup: { try await $0.close() }),
        ]
    }

    private static func observing(
        _ name: String, _ workload: LiveWorkload,
        _ policy: AsyncValueObservation<[HandwrittenPerson]>.BufferingPolicy
    ) -> Contender {
        Contender(
            name,
            prepare: { try await GRDBLiveStore(workload, .each, in: $0) },
            run: { store in
                let observation = ValueObservation.tracking {
                    try HandwrittenPerson.order(Column("id")).limit(page).fetchAll($0)
                }
                return try await run(workload, store, observation.values(in: store.pool, bufferingPolicy: policy))
            },
            cleanup: { try await $0.close() })
    }

    private static func run<Values: AsyncSequence & Sendable, Row: LivePerson>(
        _ workload: LiveWorkload, _ store: some LiveStore, _ values: Values
    ) async throws -> [Metric] where Values.Element == [Row] {
        let last = LiveSign.person(LivePeople.person((workload.commits - 1) % page, after: workload.commits - 1))
        let count = Mutex(0)
        let reader = Task {
            for try await people in values {
                count.withLock { $0 += 1 }
                if last.isShown(by: people) { return true }
                try await Task.sleep(for: .seconds(1))
            }
            return false
        }
        for number in 0..<workload.commits { try await store.write(workload.commit(number)) }
        let written = ContinuousClock.now
        let watch = Task {
            try await Task.sleep(for: .seconds(patienceSeconds))
            reader.cancel()
        }
        let isUpToDate = (try? await reader.value) == true
        let behind = (ContinuousClock.now - written) / .seconds(1)
        watch.cancel()
        return [
            Metric(name: "values read", value: Double(count.withLock { $0 })),
            Metric(name: "has the last state", value: isUpToDate ? 1 : 0),
            Metric(name: behindMetric, value: behind),
        ]
    }
}
