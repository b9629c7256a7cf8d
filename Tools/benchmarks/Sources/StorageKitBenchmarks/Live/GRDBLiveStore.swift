import Dispatch
import Foundation
import GRDB

/// Observations of a GRDB pool, delivered on the main queue.
struct GRDBLiveStore: LiveStore {
    /// How an observation knows what concerns it.
    enum Tracking: Sendable {
        /// From each fetch anew, on the writer: the default.
        case each
        /// From the first fetch; later ones are made by readers, beside the writer.
        case constantRegion
    }

    let pool: DatabasePool
    let tracking: Tracking
    var restSeconds = 0.0

    /// Columns with an index, beside the key.
    static let indexed = ["email", "age", "city"]
    private static let totalsSQL = "SELECT count(*), sum(score), avg(score), min(score), max(score) FROM person"
    private static let totalsByCitySQL =
        "SELECT city, count(*), sum(score), max(score) FROM person GROUP BY city ORDER BY city"

    func write(_ commit: LiveCommit) async throws {
        try await pool.write { db in
            try GRDBStore.upsertWithCachedStatement(commit.saved, db)
            for id in commit.deleted {
                try db.cachedStatement(sql: "DELETE FROM person WHERE id = ?").execute(arguments: [id])
            }
            for document in commit.documents { try HandwrittenDocument(document).upsert(db) }
        }
    }

    @MainActor func follow(_ questions: [LiveQuestion], _ arrivals: LiveArrivals) throws -> [LiveFollower] {
        questions.enumerated().map { view, question in follow(view, question, arrivals) }
    }

    @MainActor private func follow(_ view: Int, _ question: LiveQuestion, _ arrivals: LiveArrivals) -> LiveFollower {
        switch question {
        case .totals:
            observe(
                { try Row.fetchOne($0, sql: Self.totalsSQL)?[4] as Double? }, failed: arrivals.giveUp,
                onValue: { score in arrivals.record(view) { $0.isShown(byGreatest: score) } })
        case .totalsByCity:
            observe(
                { db in
                    try Row.fetchAll(db, sql: Self.totalsByCitySQL).map { ($0[0] as String, $0[3] as Double) }
                },
                failed: arrivals.giveUp,
                onValue: { groups in
                    arrivals.record(view) { sign in
                        sign.isShown(byCities: { city in groups.first { $0.0 == city }?.1 })
                    }
                })
        case .search(let search):
            observe(
                { db in
                    try HandwrittenFoundDocument.fetchAll(
                        db, sql: GRDBDocuments.searchSQL, arguments: [search.expression, LiveSearch.limit])
                },
                failed: arrivals.giveUp,
                onValue: { found in arrivals.record(view) { $0.isShown(byTitles: found.lazy.map(\.document.title)) } })
        case _ where restSeconds > 0: resting(view, people(question), arrivals)
        default:
            observe(
                { [people = people(question)] in try people.fetchAll($0) }, failed: arrivals.giveUp,
                onValue: { people in arrivals.record(view) { $0.isShown(by: people) } })
        }
    }

    /// - Parameter failed: Called where the observation ends by itself: what is waited for won't come.
    private func observe<Value: Sendable>(
        _ fetch: @escaping @Sendable (Database) throws -> Value, failed: @escaping @Sendable () -> Void,
        onValue: @escaping @Sendable (Value) -> Void
    ) -> LiveFollower {
        let observation =
            switch tracking {
            case .each: ValueObservation.tracking(fetch)
            case .constantRegion: ValueObservation.trackingConstantRegion(fetch)
            }
        let cancellable = observation.start(
            in: pool, scheduling: .async(onQueue: .main), onError: { _ in failed() },
            onChange: onValue)
        return LiveFollower { cancellable.cancel() }
    }

    /// Keeps the newest value for a reader who rests.
    private func resting(
        _ view: Int, _ people: QueryInterfaceRequest<HandwrittenPerson>, _ arrivals: LiveArrivals
    ) -> LiveFollower {
        let values = ValueObservation.tracking { try people.fetchAll($0) }
            .values(in: pool, bufferingPolicy: .bufferingNewest(1))
        let task = Task.detached { [restSeconds] in
            do {
                for try await people in values {
                    arrivals.record(view) { $0.isShown(by: people) }
                    try await Task.sleep(for: .seconds(restSeconds))
                }
            } catch {
                if !Task.isCancelled { arrivals.giveUp() }
            }
        }
        return LiveFollower { task.cancel() }
    }

    private func people(_ question: LiveQuestion) -> QueryInterfaceRequest<HandwrittenPerson> {
        let all = HandwrittenPerson.all()
        switch question {
        case .email(let place): return all.filter(Column("email") == LivePeople.email(place))
        // GRDB tells rows apart by their row ids, if it can.
        case .key(let place): return all.filter(Column.rowID == place + 1)
        case .emails(let places): return all.filter(places.map(LivePeople.email).contains(Column("email")))
        case .ages(let ages): return all.filter(ages.contains(Column("age")))
        case .namePrefix(let place): return all.filter(Column("name").like(LivePeople.namePrefix(place) + "%"))
        case .namePart(let place): return all.filter(Column("name").like("%" + LivePeople.namePart(place) + "%"))
        case .city(let number): return all.filter(Column("city") == LivePeople.city(number))
        case .firstByKey(let count): return all.order(Column("id")).limit(count)
        case .highestScores(let count): return all.order(Column("score").desc, Column("id").desc).limit(count)
        case .scrolled(let pages): return all.order(Column("id")).limit(pages * 50)
        case .totals, .totalsByCity, .search: return all
        }
    }

    func close() async throws { try pool.close() }
}

extension GRDBLiveStore {
    /// A store with what a workload begins with: a copy of one that is made the first time.
    init(_ workload: LiveWorkload, _ tracking: Tracking, in workspace: Workspace) async throws {
        let name = "live-grdb-\(workload.rows)-\(workload.documents)"
        let folder = try await workspace.sharedDirectory(name) { folder in
            let pool = try GRDBStore.create(folder.appendingPathComponent("grdb.sqlite").path)
            try await LivePeople.forEachBatch(workload.rows) {
                try await GRDBStore.upsertWithCachedStatement($0, into: pool)
            }
            let documents = DocumentGenerator(seed: 5).documents(workload.documents)
            try await pool.write { db in
                for column in Self.indexed {
                    try db.create(index: "person_" + column, on: "person", columns: [column])
                }
                try GRDBDocuments.create(db, isIndexed: true)
                try GRDBDocuments.insertWithCachedStatement(documents, db)
            }
            try pool.close()
        }
        let path = workspace.path("grdb.sqlite")
        try FileManager.default.copyItem(atPath: folder.appendingPathComponent("grdb.sqlite").path, toPath: path)
        self.init(
            pool: try GRDBStore.open(path, isDurable: false), tracking: tracking, restSeconds: workload.restSeconds)
    }
}
