import CSQLite
import StorageKit

/// Reads the events that pass a filter.
///
/// If only rows are requested, it follows the chains of their versions instead of reading the log.
struct ChangeScan {
    let store: HistoryReader
    let filter: ChangeFilter

    /// Calls `body` with each event, until it returns false.
    func forEachEvent(descending: Bool, _ body: (EventBatch, Int, CommitInfo) throws -> Bool) throws {
        try forEachPart(descending: descending) { batch, part in
            for index in part.matching where try !body(batch, index, part.info) { return false }
            return true
        }
    }

    /// Calls `body` with the parts of commits and their passing events, until it returns false.
    func forEachPart(descending: Bool, _ body: (EventBatch, CommitPart) throws -> Bool) throws {
        guard let passes = filter.passes else { return try forEachCandidate(descending: descending, body) }
        try forEachCandidate(descending: descending) { batch, part in
            let matching = try part.matching.filter { try passes(batch, $0, part.info) }
            return try body(batch, CommitPart(info: part.info, events: part.events, matching: matching))
        }
    }

    private func forEachCandidate(descending: Bool, _ body: (EventBatch, CommitPart) throws -> Bool) throws {
        guard !filter.logRange.isEmpty else { return }
        if !filter.rows.isEmpty, filter.tables.isEmpty {
            return try forEachVersion(descending: descending, body)
        }
        var query = filter.query
        query.descending = descending
        let rows = filter.rows.map { ($0, $0.address) }
        try store.log.forEachPart(query, catalog: store.catalog) { batch, part in
            guard filter.wants(part.info) else { return true }
            guard !rows.isEmpty else { return try body(batch, part) }
            let matching = part.matching.filter { isAskedFor($0, of: batch, among: rows) }
            return try body(batch, CommitPart(info: part.info, events: part.events, matching: matching))
        }
    }

    /// Returns whether an event matches the requested tables, rows and columns.
    func wants(_ batch: EventBatch, _ index: Int) -> Bool {
        let entity = batch.withView { $0.shape(of: index).entity }
        if CatalogEntity.isReserved(entity), filter.query.includesSchema { return true }
        guard let tables = filter.query.tables else { return !CatalogEntity.isReserved(entity) }
        guard filter.rows.isEmpty else {
            return isAskedFor(index, of: batch, among: filter.rows.map { ($0, $0.address) })
        }
        return store.catalog.entity(id: entity).map { tables.containsExactly($0.name) } ?? false
    }

    /// Returns whether an event belongs to one of the rows, or to a table that is requested as a whole.
    private func isAskedFor(_ index: Int, of batch: EventBatch, among rows: [(RowTarget, RowAddress)]) -> Bool {
        batch.withView { view in
            let shape = view.shape(of: index)
            if let name = store.catalog.entity(id: shape.entity)?.name, filter.tables.containsExactly(name) {
                return true
            }
            return rows.contains { row, address in
                guard row.entity.id == shape.entity, RowAddress(view, at: index) == address else { return false }
                let columns = UnsafeBufferPointer(start: shape.columns, count: Int(shape.column_count))
                return row.column.map { touches(columns, $0, of: row.entity) } ?? true
            }
        }
    }

    private func touches(_ columns: some Sequence<UInt32>, _ column: String, of entity: CatalogEntity) -> Bool {
        let ids = Set(entity.columns.filter { $0.name.utf8.elementsEqual(column.utf8) }.map(\.id))
        return columns.contains(where: ids.contains)
    }

    private func forEachVersion(descending: Bool, _ body: (EventBatch, CommitPart) throws -> Bool) throws {
        var newest = try VersionPositions(of: self)
        if descending { return try forEachPart(at: { try newest.next() }, body) }
        // The chains lead back only, so the oldest version is found last.
        var positions: [Int64] = []
        while let position = try newest.next() { positions.append(position) }
        try forEachPart(at: { positions.popLast() }, body)
    }

    /// Calls `body` with the parts of commits that hold the events at some positions, which are in the scan's order.
    private func forEachPart(
        at next: () throws -> Int64?, _ body: (EventBatch, CommitPart) throws -> Bool
    ) throws {
        var following = try next()
        while let position = following, let batch = try store.log.batch(containing: position) {
            let first = batch.header.first
            guard let commit = batch.commits.first(where: { $0.events.contains(Int(position - first)) }) else { return }
            var matching: [Int] = []
            while let position = following, commit.events.contains(Int(position - first)) {
                matching.append(Int(position - first))
                following = try next()
            }
            guard try body(batch, CommitPart(info: commit.info, events: commit.events, matching: matching)) else {
                return
            }
        }
    }

    /// Evaluates the filter of the log's reader for one event of a row.
    func wants(_ index: Int, of outline: SegmentOutline, row: RowTarget) -> Bool {
        let commit = outline.commit(ofEvent: index)
        guard filter.logRange.positions.contains(outline.header.first + Int64(index)), !filter.logRange.isEmpty,
            filter.wants(commit), passes(commit.metadata.actor, filter.query.actors),
            passes(commit.metadata.app, filter.query.apps)
        else { return false }
        let shape = outline.shape(ofEvent: index)
        if let operations = filter.query.operations, !operations.contains(shape.operation) { return false }
        if let column = row.column, !touches(shape.columns, column, of: row.entity) { return false }
        guard let columns = filter.query.columns else { return true }
        return columns.contains { touches(shape.columns, $0, of: row.entity) }
    }

    private func passes(_ value: String?, _ wanted: Set<String>?) -> Bool {
        guard let wanted else { return true }
        return value.map(wanted.containsExactly) ?? false
    }
}

extension ChangeScan {
    /// Calls `body` with the commits that have passing events, until it returns false.
    ///
    /// - Parameters:
    ///   - namingRows: Whether to pass the first rows of each commit, too.
    ///   - keepingEvents: Whether to pass the events of commits in few segments, so that they needn't be decoded again.
    func forEachCommit(
        descending: Bool, namingRows: Bool = false, keepingEvents: Bool = false,
        _ body: (CommitSummary, ScannedCommit) throws -> Bool
    ) throws {
        var assembly = CommitAssembly(store.index, store.catalog, descending: descending)
        // A part may end both the previous commit and its own.
        var (before, current) = (ScannedCommit(number: 0), ScannedCommit(number: 0))
        var isStopped = false
        try forEachPart(descending: descending) { batch, part in
            if part.info.number != current.number {
                (before, current) = (current, ScannedCommit(number: part.info.number))
            }
            if namingRows { current.rows.add(part, of: batch, store.catalog) }
            if keepingEvents, !part.matching.isEmpty { current.parts.add(part, of: batch) }
            isStopped = try !assembly.add(part, of: batch) {
                try body($0, before.number == $0.info.number ? before : current)
            }
            // It is complete.
            before = ScannedCommit(number: 0)
            return !isStopped
        }
        if !isStopped { _ = try assembly.finish { try body($0, current) } }
    }
}
