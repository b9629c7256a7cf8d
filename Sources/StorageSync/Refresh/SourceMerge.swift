internal import StorageCore
internal import StorageKit
internal import StorageLog
internal import StorageProjections

/// Merges the pages of one refresh into the store. A value: what a commit's body does with it can be done again.
struct SourceMerge<Element: RegisteredEntity>: Sendable {
    let request: QueryRequest<Element>
    let strategy: QueryMergeStrategy<Element>
    /// The position of the log when the request began: rows whose last event lies behind were changed meanwhile.
    let start: Int64
    /// The keys of the rows that were fetched; kept only where others are deleted.
    private var fetched: Set<StorageValue> = []
    private var fetchedCount = 0
    /// The positions of this refresh's own commits.
    private var own: [ClosedRange<Int64>] = []
    private let table = EntityTables.of(Element.Record.self)

    init(request: QueryRequest<Element>, strategy: QueryMergeStrategy<Element>, start: Int64) {
        self.request = request
        self.strategy = strategy
        self.start = start
    }

    private var deletes: Bool { if case .replace = strategy { true } else { false } }

    mutating func note(_ rows: [Element], _ receipt: CommitReceipt?) {
        fetchedCount += rows.count
        if deletes { for row in rows { fetched.insert(Element.Record.key(of: row.id)) } }
        if let receipt, receipt.first <= receipt.last { own.append(receipt.first...receipt.last) }
    }

    /// Saves a page.
    func save(_ rows: [Element], in tx: WriteTransaction) throws {
        let begin = tx.writer.nextPosition
        let isAlone = begin - 1 - start == own.reduce(0) { $0 + Int64($1.count) }
        for row in rows where try isAlone || !wasChanged(Element.Record.key(of: row.id), before: begin, in: tx) {
            switch strategy {
            case .replace, .upsert: try tx.save(row)
            case .append: if try tx.get(Element.self, id: row.id) == nil { try tx.save(row) }
            case .custom(let resolve):
                if let resolved = resolve(try tx.get(Element.self, id: row.id), row) { try tx.save(resolved) }
            }
        }
    }

    /// Whether a row was changed or deleted by somebody else after the request began.
    ///
    /// - Parameter begin: Where the events of the commit under way begin.
    private func wasChanged(_ key: StorageValue, before begin: Int64, in tx: WriteTransaction) throws -> Bool {
        let last =
            if let position = try table.position(of: key, with: tx.writer) {
                position
            } else if let entity = tx.writer.catalog.entity(named: table.name) {
                try LogReader(tx.writer.database).lastPosition(of: [key], in: entity)
            } else {
                Int64?.none
            }
        return last.map { $0 < begin && isOfOthers($0) } ?? false
    }

    private func isOfOthers(_ position: Int64) -> Bool {
        position > start && !own.contains { $0.contains(position) }
    }

    /// Deletes rows of the query that weren't fetched, after the last page.
    func deleteMissing(in tx: WriteTransaction) throws {
        guard deletes else { return }
        for key in try missing(in: tx) {
            // Never null: the row was found just now.
            guard let position = try table.position(of: key, with: tx.writer), !isOfOthers(position) else { continue }
            try table.delete(key, with: tx.writer)
        }
    }

    /// The keys of the query's rows that weren't fetched, as far as the answer says something of them: a remote that was asked for
    /// so many rows says nothing of those that sort behind the last one, or before the first one where it skips some.
    private func missing(in tx: WriteTransaction) throws -> [StorageValue] {
        var rows = request.rows
        let isCut = rows.limit.map { fetchedCount >= $0 } ?? false
        let skips = rows.offset > 0
        (rows.limit, rows.offset) = (nil, 0)
        var missing: [StorageValue] = []
        // Those behind the last fetched row so far.
        var tail: [StorageValue] = []
        var hasBegun = !skips
        let shape = table.shape
        guard let place = shape.key.first else { return [] }
        try QuerySQL(rows, of: shape).select(limit: nil).run(tx.database) { statement in
            let found = StatementRows(statement: statement)
            while try found.next() {
                let key = found.row.value(at: Int32(place))
                if fetched.contains(key) {
                    hasBegun = true
                    missing += tail
                    tail.removeAll(keepingCapacity: true)
                } else if hasBegun {
                    tail.append(key)
                }
            }
        }
        return isCut ? missing : missing + tail
    }
}
