import Foundation
import StorageKit

/// Views that are made, waited for and given up on the main actor, with a look at the main thread meanwhile.
enum LiveMainThread {
    enum Kind: String, CaseIterable {
        case key = "a row by its key"
        case firstPage = "a page by the key"
        case scores = "a page without an index"
        case everything = "a list of all rows"
        case farPage = "a page far behind"
        case totals = "totals"
        case totalsByCity = "totals by city"
        case groups = "groups of all rows"
        case columnSearch = "a search in columns"
        case fullText = "a full-text search"
    }

    static let makingMetric = "making it, CPU ms"
    private static let turns = 5
    /// Made beforehand: that isn't the store's work.
    private static let word = DocumentGenerator(seed: 5).vocabulary[11]

    static func contenders(rows: Int, documents: Int) -> [Contender] {
        let workload = LiveWorkload(rows: rows, documents: documents) { _ in LiveCommit() }
        return Kind.allCases.map { kind in
            Contender(
                kind.rawValue,
                prepare: { workspace in
                    _ = word
                    return try await StorageKitLiveStore(workload, in: workspace)
                },
                run: { store in
                    let watch = await MainThreadWatch()
                    var making = 0.0
                    for _ in 0..<turns {
                        making = max(making, try await live(kind, store.store.storage, rows: rows))
                        // What giving up leaves behind belongs to it.
                        try await Task.sleep(for: .milliseconds(100))
                    }
                    return [Metric(name: makingMetric, value: making)] + (await watch.stop())
                },
                cleanup: { try await $0.close() })
        }
    }

    /// A view's life.
    ///
    /// - Returns: The CPU of the main thread within the initialiser, in milliseconds.
    @MainActor private static func live(_ kind: Kind, _ storage: Storage, rows: Int) async throws -> Double {
        let people = storage.query(StoredPerson.self)
        switch kind {
        case .key:
            let key = LivePeople.key(rows / 2)
            return try await shown { QuerySubscription(people.where { $0.id == key }) }
        case .firstPage: return try await shown { QuerySubscription(people.orderBy(\.id).limit(50)) }
        case .scores: return try await shown { QuerySubscription(people.orderBy(\.score, .descending).limit(50)) }
        case .everything: return try await shown { QuerySubscription(people.orderBy(\.id)) }
        case .farPage:
            return try await shown {
                PaginatedQuerySubscription(people.orderBy(\.id), pageSize: 50)
            } then: { pages in
                try await loaded(pages)
                await pages.goToPage(rows / 100)
            }
        case .totals:
            return try await shown {
                AggregationSubscription(people, .count, .sum(\.score), .max(\.score), start: .automatic)
            }
        case .totalsByCity:
            return try await shown {
                GroupedAggregationSubscription(
                    people, .count, .max(\.score), groupedBy: \.city, start: .automatic)
            }
        case .groups: return try await shown { GroupedQuerySubscription(people, groupBy: \.city) }
        case .columnSearch:
            return try await shown {
                SearchSubscription(people, configuration: .init(searchFields: ["name"], debounceInterval: 0))
            } then: {
                try await type(LivePeople.namePart(rows / 2), $0)
            }
        case .fullText:
            return try await shown {
                SearchSubscription(
                    storage.query(StoredDocument.self), configuration: .fullText(debounceInterval: 0, maxResults: 20))
            } then: {
                try await type(word, $0)
            }
        }
    }

    @MainActor private static func shown<View: StorageSubscription>(
        _ make: @MainActor () -> View, then use: @MainActor (View) async throws -> Void = { _ in }
    ) async throws -> Double {
        let before = cpuMilliseconds()
        let view = make()
        let making = cpuMilliseconds() - before
        // A search has no value before it has a text.
        try await use(view)
        try await loaded(view)
        return making
    }

    /// A letter after another, quicker than it is searched for.
    @MainActor private static func type<Entity>(_ text: String, _ view: SearchSubscription<Entity>) async throws {
        for end in text.indices {
            view.searchText = String(text[...end])
            try await Task.sleep(for: .milliseconds(30))
        }
    }

    @MainActor private static func loaded(_ view: StorageSubscription) async throws {
        let start = ContinuousClock.now
        while view.isLoading {
            guard ContinuousClock.now - start < .seconds(120) else { throw BenchmarkError("A view has no value.") }
            try await Task.sleep(for: .milliseconds(5))
        }
        if let error = view.error { throw error }
    }

    @MainActor private static func cpuMilliseconds() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Double(time.tv_sec) * 1_000 + Double(time.tv_nsec) / 1_000_000
    }
}
