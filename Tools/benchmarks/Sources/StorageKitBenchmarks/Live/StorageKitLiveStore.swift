import Foundation
import GRDB
import StorageKit

/// Live views of StorageKit, read as sequences.
struct StorageKitLiveStore: LiveStore {
    let store: StorageKitStore
    var restSeconds = 0.0

    private var storage: Storage { store.storage }

    func write(_ commit: LiveCommit) async throws {
        if !commit.documents.isEmpty {
            try await storage.save(commit.documents.map(StoredDocument.init))
        } else if commit.deleted.isEmpty, commit.saved.count == 1 {
            try await storage.save(StoredPerson(commit.saved[0]))
        } else if commit.deleted.isEmpty {
            try await storage.save(commit.saved.map(StoredPerson.init))
        } else {
            try await storage.write { tx in
                try tx.save(commit.saved.map(StoredPerson.init))
                for id in commit.deleted { try tx.delete(StoredPerson.self, id: id) }
            }
        }
    }

    @MainActor func follow(_ questions: [LiveQuestion], _ arrivals: LiveArrivals) throws -> [LiveFollower] {
        questions.enumerated().map { view, question in follow(view, question, arrivals) }
    }

    @MainActor private func follow(_ view: Int, _ question: LiveQuestion, _ arrivals: LiveArrivals) -> LiveFollower {
        switch question {
        case .scrolled(let pages):
            let list = PaginatedQuerySubscription(
                storage.query(StoredPerson.self).orderBy(\.id), pageSize: 50, style: .scrolling, start: .immediate)
            let snapshots = list.snapshots
            return reading {
                await list.goToPage(pages - 1)
                for await people in snapshots { arrivals.record(view) { $0.isShown(by: people) } }
            }
        case .totals:
            let totals = AggregationSubscription(
                storage.query(StoredPerson.self), .count, .sum(\.score), .average(\.score), .min(\.score),
                .max(\.score), start: .immediate)
            let snapshots = totals.snapshots
            return reading {
                for await value in snapshots { arrivals.record(view) { $0.isShown(byGreatest: value.4) } }
            }
        case .totalsByCity:
            let totals = GroupedAggregationSubscription(
                storage.query(StoredPerson.self), .count, .sum(\.score), .max(\.score), groupedBy: \.city,
                start: .immediate)
            let snapshots = totals.snapshots
            return reading {
                for await groups in snapshots {
                    arrivals.record(view) { sign in
                        sign.isShown(byCities: { city in groups.first { $0.key == city }?.value.2 ?? nil })
                    }
                }
            }
        case .search(let search):
            let list = SearchSubscription(
                storage.query(StoredDocument.self),
                configuration: .fullText(debounceInterval: 0, maxResults: LiveSearch.limit))
            let snapshots = list.snapshots
            list.searchText = search.text
            return reading {
                for await documents in snapshots {
                    arrivals.record(view) { $0.isShown(byTitles: documents.lazy.map(\.title)) }
                }
            }
        default:
            let list = QuerySubscription(rows(question), start: .immediate)
            let snapshots = list.snapshots
            return reading { [restSeconds] in
                for await people in snapshots {
                    arrivals.record(view) { $0.isShown(by: people) }
                    // It fails when the reading has ended, as the loop does then.
                    if restSeconds > 0 { try? await Task.sleep(for: .seconds(restSeconds)) }
                }
            }
        }
    }

    private func reading(_ read: @escaping @Sendable () async -> Void) -> LiveFollower {
        let task = Task.detached { await read() }
        return LiveFollower { task.cancel() }
    }

    private func rows(_ question: LiveQuestion) -> Query<StoredPerson> {
        let all = storage.query(StoredPerson.self)
        switch question {
        case .email(let place):
            let email = LivePeople.email(place)
            return all.where { $0.email == email }
        case .key(let place):
            let key = LivePeople.key(place)
            return all.where { $0.id == key }
        case .emails(let places): return all.where { $0.email.in(places.map(LivePeople.email)) }
        case .ages(let ages): return all.where { $0.age.between(ages) }
        case .namePrefix(let place): return all.where { $0.name.hasPrefix(LivePeople.namePrefix(place)) }
        case .namePart(let place): return all.where { $0.name.contains(LivePeople.namePart(place)) }
        case .city(let number):
            let city = LivePeople.city(number)
            return all.where { $0.city == city }
        case .firstByKey(let count): return all.orderBy(\.id).limit(count)
        case .highestScores(let count): return all.orderBy(\.score, .descending).limit(count)
        case .scrolled, .totals, .totalsByCity, .search: return all
        }
    }

    func workOfViews() async -> LiveWork? {
        let work = await storage.subscriptionWork
        return LiveWork(duration: work.duration, statements: work.statements)
    }

    func close() async throws { try await store.close() }
}

extension StorageKitLiveStore {
    /// A store with what a workload begins with: a copy of one that is made the first time.
    init(
        _ workload: LiveWorkload, durability: StorageConfig.Durability = .normal, in workspace: Workspace
    ) async throws {
        let name = "live-storagekit-\(workload.rows)-\(workload.documents)"
        let folder = try await workspace.sharedDirectory(name) { folder in
            let store = try StorageKitStore(live: folder.appendingPathComponent("storage.sqlite").path)
            try await LivePeople.forEachBatch(workload.rows) { try await store.storage.save($0.map(StoredPerson.init)) }
            let documents = DocumentGenerator(seed: 5).documents(workload.documents)
            try await store.storage.save(documents.map(StoredDocument.init))
            try await store.storage.seal()
            try await store.close()
        }
        let path = workspace.path("storage.sqlite")
        try FileManager.default.copyItem(atPath: folder.appendingPathComponent("storage.sqlite").path, toPath: path)
        var configuration = StorageConfig()
        configuration.durability = durability
        self.init(
            store: try StorageKitStore(live: path, configuration: configuration), restSeconds: workload.restSeconds)
    }
}

extension StorageKitStore {
    /// Opens a store of live benchmarks.
    init(live path: String, configuration: StorageConfig = StorageConfig()) throws {
        try self.init(path, configuration: configuration) { schema in
            schema.autoSchema(StoredDocumentRecord.self)
            schema.addFullTextSearch(table: "documents", columns: ["title", "body"])
            schema.migration("indexes of live benchmarks") { db in
                for column in GRDBLiveStore.indexed {
                    try db.create(index: "people_" + column, on: "people", columns: [column])
                }
            }
        }
    }
}
