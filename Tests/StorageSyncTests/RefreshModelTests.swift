import Foundation
import PredicateTestSupport
import StorageKit
import StorageSync
import StorageTesting
import Testing

/// Any order of refreshes, edits and failures leaves what a plain model says, however the remote answers.
@MainActor @Suite struct RefreshModelTests {
    /// How the remote is asked.
    enum Shape: CaseIterable { case whole, pages, validated }
    enum Merge: CaseIterable { case replace, upsert, append }

    private static var seeds: Range<UInt64> {
        let count = ProcessInfo.processInfo.environment["STORAGEKIT_TEST_SCALE"].flatMap { Double($0) } ?? 1
        return 0..<UInt64(max(6 * count, 2))
    }

    @Test(arguments: Shape.allCases, Merge.allCases)
    func theStoreIsWhatTheModelSays(shape: Shape, merge: Merge) async throws {
        for seed in Self.seeds { try await run(seed, shape, merge) }
    }

    private func run(_ seed: UInt64, _ shape: Shape, _ merge: Merge) async throws {
        var random = PredicateGenerator(seed: seed)
        let home = try Household()
        let source = Self.source(home, shape, merge)
        // What is in the store, by id.
        var model: [Int: Chore] = [:]
        for step in 0..<40 {
            let chore = Chore(
                id: .random(in: 0..<8, using: &random), title: "\(step)", priority: .random(in: 0..<3, using: &random))
            switch Int.random(in: 0..<10, using: &random) {
            case 0, 1:
                try await home.storage.save(chore)
                model[chore.id] = chore
            case 2:
                try await home.storage.delete(Chore.self, id: chore.id)
                model[chore.id] = nil
            case 3, 4:
                home.remote.rows = home.remote.rows.filter { $0.id != chore.id } + [chore]
            case 5:
                home.remote.rows = home.remote.rows.filter { $0.id != chore.id }
            case 6:
                home.remote.failure = FakeRemote.Failure()
                await #expect(throws: StorageError.self) { try await home.container.refresh(source) }
                home.remote.failure = nil
            case 7:
                // An edit while the request is on its way, and maybe one of the remote that the answer doesn't have.
                let fetched = home.remote.rows
                home.remote.hold()
                let count = home.remote.count
                async let refresh: Void = home.container.refresh(source)
                try await eventually { home.remote.count > count }
                let deletes = Bool.random(using: &random)
                if deletes {
                    try await home.storage.delete(Chore.self, id: chore.id)
                } else {
                    try await home.storage.save(chore)
                }
                // What deletes nothing has changed nothing.
                let edited: Set<Int> = deletes && model[chore.id] == nil ? [] : [chore.id]
                model[chore.id] = deletes ? nil : chore
                home.remote.release()
                try await refresh
                Self.take(fetched, into: &model, merge, except: edited)
            default:
                try await home.container.refresh(source)
                Self.take(home.remote.rows, into: &model, merge, except: [])
            }
            let stored = try await home.stored()
            #expect(stored == model.values.sorted { $0.id < $1.id }, "seed \(seed), step \(step)")
        }
        try await home.storage.close()
    }

    private static func source(_ home: Household, _ shape: Shape, _ merge: Merge) -> QuerySource<Chore> {
        let remote = home.remote
        let strategy: QueryMergeStrategy<Chore> =
            switch merge {
            case .replace: .replace
            case .upsert: .upsert
            case .append: .append
            }
        let action = QueryRefreshAction(merge: strategy) { fetch in
            switch shape {
            case .whole: .rows(try await remote.all())
            case .pages: try await remote.page(fetch, size: 2)
            case .validated: try await remote.validated(fetch)
            }
        }
        return QuerySource(Household.all, name: "model").remote(action).cache(.networkFirst)
    }

    private static func take(_ rows: [Chore], into model: inout [Int: Chore], _ merge: Merge, except edited: Set<Int>) {
        for row in rows where !edited.contains(row.id) {
            if merge == .append, model[row.id] != nil { continue }
            model[row.id] = row
        }
        guard merge == .replace else { return }
        let fetched = Set(rows.map(\.id))
        for id in Array(model.keys) where !fetched.contains(id) && !edited.contains(id) { model[id] = nil }
    }
}
