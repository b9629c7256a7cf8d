public import StorageKit
internal import StorageLog
internal import StorageMaintenance
internal import StorageProjections

/// Checks what StorageKit requires of every projection: that its tables follow from the events alone.
///
/// ```swift
/// let kit = ProjectionConformance(OrderTotals()) { schema in
///     schema.autoSchema(OrderRecord.self)
/// } history: { storage in
///     try await storage.save(Order(id: 1, customer: "anna", cents: 500))
///     …
/// }
/// #expect(try await kit.run() == [])
/// ```
///
/// The history is written once, with the projection updated in every commit. Then replaying it must produce the same
/// rows: rebuilt twice, in batches of several sizes, stopped and reopened after each commit, and with every batch
/// undone once before it is applied. Give it a history that inserts, changes and deletes what the projection reads.
public struct ProjectionConformance: Sendable {
    private let projection: any Projection
    private let declare: @Sendable (inout Schema) -> Void
    private let history: @Sendable (Storage) async throws -> Void
    /// The approximate numbers of events in a batch; each size is tested in a separate run.
    public var batchSizes = [1, 2, 7, 1_000]

    /// Power loss isn't tested here, so no write waits for the disk.
    private let config = StorageConfig(durability: .normal)

    /// Creates the check of a projection with a history.
    ///
    /// - Parameters:
    ///   - declare: Declares what the history needs, without the projection.
    ///   - history: Writes to the store; called once.
    public init(
        _ projection: any Projection, declare: @escaping @Sendable (inout Schema) -> Void,
        history: @escaping @Sendable (Storage) async throws -> Void
    ) {
        self.projection = projection
        self.declare = declare
        self.history = history
    }

    /// Writes the history, replays it in several ways, and compares the projection's rows.
    ///
    /// - Returns: A description of each violation; empty if there is none.
    /// - Throws: What the history or the projection throws.
    public func run() async throws -> [String] {
        var findings: [String] = []
        let projection = projection
        let declare = declare
        let store = try TemporaryStore(config: config) {
            declare(&$0)
            $0.addProjection(projection, mode: .inline)
        }
        try await history(store.storage)
        let expected = try await rows(store.storage)
        let commits = try await commitEnds(store.storage)
        if commits.isEmpty { findings.append("the history has no event that the projection reads") }
        if !(try await store.storage.verify().isSound) { findings.append("the store isn't sound after the history") }
        for round in 1...2 {
            try await store.storage.projections.rebuild(projection.name)
            findings += try await difference(of: store.storage, from: expected, when: "rebuilt for the \(round). time")
        }
        try await store.storage.rebuild()
        findings += try await difference(of: store.storage, from: expected, when: "rebuilt with the store")
        try await store.storage.close()
        for size in batchSizes {
            let watched = WatchedProjection(projection)
            findings += try await again(
                store, watched, batchSize: size, expected: expected, what: "in batches of \(size)")
            findings += watched.findings
        }
        let stumbling = WatchedProjection(projection, stumbles: true)
        findings += try await again(
            store, stumbling, batchSize: 3, expected: expected, what: "with each batch undone once")
        for (offset, position) in commits.dropLast().enumerated() {
            let stopping = WatchedProjection(projection, stopsAfter: position)
            _ = try await again(store, stopping, batchSize: 1, expected: nil, what: "", begins: offset == 0)
        }
        return findings
            + (try await again(
                store, nil, batchSize: 1, expected: expected, what: "stopped after each commit",
                begins: commits.count < 2))
    }

    /// Opens the store with the projection running asynchronously; it applies everything again, or continues at its checkpoint.
    private func again(
        _ store: TemporaryStore, _ watched: WatchedProjection?, batchSize size: Int, expected: [String]?,
        what: String, begins: Bool = true
    ) async throws -> [String] {
        let storage = try StorageKit.start(at: store.url, config: config) { schema in
            declare(&schema)
            // A commit that is cut into many batches is undone once for each of them.
            let policy = FailurePolicy.retry(watched?.stumbles == true ? 1_000 : 0, delay: .zero)
            schema.addProjection(
                watched ?? projection, mode: .async, onFailure: policy, onReplayFailure: policy, batchSize: size)
        }.facade
        do {
            if begins {
                try await storage.projections.reset(projection.name)
            } else {
                try await storage.projections.resume(projection.name)
            }
            let end = CommitReceipt(commit: nil, first: 0, last: storage.head, time: 0)
            do {
                try await storage.waitForProjections(through: end)
            } catch let error as StorageError where error.code == .projectionFailed && expected == nil {}
            var findings: [String] = []
            if let expected { findings = try await difference(of: storage, from: expected, when: what) }
            try await storage.close()
            return findings
        } catch {
            // The error that ended it is the one that matters.
            try? await storage.close()
            throw error
        }
    }

    private func difference(
        of storage: Storage, from expected: [String], when what: String
    ) async throws -> [String] {
        let found = try await rows(storage)
        guard found != expected else { return [] }
        let missing = expected.filter { !found.contains($0) }.prefix(3)
        let extra = found.filter { !expected.contains($0) }.prefix(3)
        return [
            "\(projection.name) differs when it is \(what): "
                + (missing.map { "missing \($0)" } + extra.map { "not expected \($0)" }).joined(separator: "; ")
        ]
    }

    /// Everything in the projection's tables, as text.
    private func rows(_ storage: Storage) async throws -> [String] {
        let tables = try await storage.projections.status().first { $0.name == projection.name }?.tables ?? []
        return try await storage.read { db in
            var rows: [String] = []
            for table in tables {
                let kind = try String.fetchOne(
                    db, sql: "SELECT type FROM temp.pragma_table_list WHERE schema = 'main' AND name = ?",
                    arguments: [table]
                )
                // The content of FTS5's shadow tables depends on how the index was built.
                guard kind != "shadow" else { continue }
                let columns = try String.fetchAll(
                    db, sql: "SELECT name FROM temp.pragma_table_info(?) ORDER BY cid", arguments: [table])
                let values = columns.map { "quote(\(quoted($0)))" }.joined(
                    separator: " || '|' || ")
                rows += try String.fetchAll(db, sql: "SELECT \(values) FROM \(quoted(table))").map { "\(table): \($0)" }
                    .sorted()
            }
            return rows
        }
    }

    /// The last positions of the commits with events that the projection reads.
    private func commitEnds(_ storage: Storage) async throws -> [Int64] {
        var ends: [(commit: Int64, position: Int64)] = []
        for event in try await storage.allEvents()
        where projection.entities.isEmpty || projection.entities.contains(event.table) {
            if ends.last?.commit == event.commit.number { ends.removeLast() }
            ends.append((event.commit.number, event.position))
        }
        return ends.map(\.position)
    }
}
