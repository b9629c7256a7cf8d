internal import StorageCore
internal import StorageHistory
internal import StorageLog

/// Reads documents as they were before and after their events from the log.
///
/// Events contain changed columns only, so a document is assembled from all of its earlier events. Recently read rows
/// are cached, so reading consecutive events takes one step each, however often a document was changed.
///
/// Not `Sendable`: it belongs to its connection's thread.
final class DocumentReader<T: DataSyncModelProtocol> {
    private let table: DocumentTable<T>
    private let log: LogReader
    private let catalog: Catalog
    private let upcasts: [String: Upcast]
    private(set) var rows: RecentRows

    /// - Parameters:
    ///   - catalog: The connection's catalog.
    ///   - rows: Rows that were read before.
    init(
        _ table: DocumentTable<T>, _ connection: Connection, catalog: Catalog, upcasts: [String: Upcast],
        rows: RecentRows = RecentRows()
    ) {
        self.table = table
        self.catalog = catalog
        self.upcasts = upcasts
        self.rows = rows
        log = LogReader(connection)
    }

    var database: Connection { log.database }

    /// A document as it was before one of its events; nil if there was none. States that can't be written as JSON are
    /// skipped: no remote has them.
    ///
    /// - Parameter since: See ``writableOperations(of:since:)``.
    func document(_ id: String, before position: Int64, since: Int64) throws -> DocumentFields? {
        let previous = try log.previous(ofEventAt: position)
        return try lastFields(id, try row(id, after: previous), after: previous, since: since)
    }

    /// What writes of a document did to it, in order.
    ///
    /// - Throws: `invalid-value` if the result of the last write can't be written as JSON.
    func operations(
        of writes: some Sequence<PendingWrite>, since: Int64
    ) throws -> [(write: PendingWrite, operation: DocumentOperation)] {
        let (operations, problem) = try writableOperations(of: writes, since: since)
        if let problem { throw problem }
        return operations
    }

    /// What writes of a document did to it, in order, and why the result of the last one can't be written as JSON; nil if it can.
    ///
    /// A write with such a result is left out: the operation of the next one includes its changes. If the document of one that is left out
    /// was to be sent whole, the remote may have none, or another one, so the next one is whole.
    ///
    /// - Parameter since: Writes up to this position were made before there was an engine: only this store knows their documents, so they are sent
    ///   whole.
    func writableOperations(
        of writes: some Sequence<PendingWrite>, since: Int64
    ) throws -> (operations: [(write: PendingWrite, operation: DocumentOperation)], problem: StorageError?) {
        var operations: [(write: PendingWrite, operation: DocumentOperation)] = []
        var problem: StorageError?
        var lacksWhole = false
        for write in writes {
            let isWhole = write.kind == .save || write.position <= since || lacksWhole && write.kind == .patch
            do {
                operations.append((write, try operation(of: write, isWhole: isWhole, since: since)))
                (problem, lacksWhole) = (nil, false)
            } catch let error as StorageError where error.code == .invalidValue {
                (problem, lacksWhole) = (error, lacksWhole || isWhole)
            }
        }
        return (operations, problem)
    }

    private func operation(of write: PendingWrite, isWhole: Bool, since: Int64) throws -> DocumentOperation {
        let id = write.document.id
        let previous = try log.previous(ofEventAt: write.position)
        let old = try row(id, after: previous)
        let new = try log.image(ofEventAt: write.position, on: old)
        rows.set(new, after: write.position, of: id)
        // First, because it is cheap to find that it can't be written.
        let fields = try fields(id, new)
        // Whatever of the row could be sent, the remote may have the document.
        if fields == nil, !isWhole { return .delete }
        let before = isWhole ? nil : try lastFields(id, old, after: previous, since: since)
        return DocumentOperation(from: before, to: fields)
    }

    /// - Parameter position: The position of one of the row's events; 0 for before all of them.
    private func row(_ id: String, after position: Int64) throws -> RowImage? {
        guard position > 0 else { return nil }
        if let known = rows.row(of: id, after: position) { return known }
        return try log.image(ofEventAt: position).image
    }

    private func fields(_ id: String, _ row: RowImage?) throws -> DocumentFields? {
        guard let row else { return nil }
        return try DocumentFields(encoding: table.document(id, row, catalog, log.database, upcasts))
    }

    /// The document of a row as it was after an event, or, if that can't be written as JSON, as it was last before.
    ///
    /// Of the states up to `since`, a remote has the last one at most: earlier ones are never sent, and aren't read here.
    ///
    /// Assembling a row reads all of its earlier events. So earlier rows are read in growing blocks, of which only the
    /// first row is assembled. Of the others only their positions are kept, and one document, so the size of rows doesn't matter.
    private func lastFields(
        _ id: String, _ row: RowImage?, after position: Int64, since: Int64
    ) throws -> DocumentFields? {
        if let fields = writableFields(id, row) { return try fields.get() }
        var position = position
        var count = 1
        while position > since {
            var later: [Int64] = []
            position = try log.previous(ofEventAt: position)
            while later.count + 1 < count, position > since {
                later.append(position)
                position = try log.previous(ofEventAt: position)
            }
            var row = try self.row(id, after: position)
            var last = writableFields(id, row)
            for position in later.reversed() {
                row = try log.image(ofEventAt: position, on: row)
                last = writableFields(id, row) ?? last
            }
            if let last { return try last.get() }
            count = min(count * 2, 16_384)
        }
        // Before all events there is no row, which would have been returned.
        return nil
    }

    /// A row's document, or why it can't be read; nil if it can't be written as JSON.
    private func writableFields(_ id: String, _ row: RowImage?) -> Result<DocumentFields?, any Error>? {
        let result: Result<DocumentFields?, any Error> = Result { try fields(id, row) }
        if case .failure(let error as StorageError) = result, error.code == .invalidValue { return nil }
        return result
    }
}

/// Rows as they were after the events that were read last, by document.
struct RecentRows: Sendable {
    /// The maximum number of rows; bytes are limited as well.
    private static let limit = 256
    private static let byteLimit = 8 << 20

    private var rows: [ExactText: (position: Int64, row: RowImage?)] = [:]
    /// The size of the rows that were set since the cache was last emptied.
    private var byteCount = 0

    /// - Returns: nil if the row isn't cached for exactly that event, or there was none.
    func row(of id: String, after position: Int64) -> RowImage? {
        rows[ExactText(id)].flatMap { $0.position == position ? $0.row : nil }
    }

    mutating func set(_ row: RowImage?, after position: Int64, of id: String) {
        let id = ExactText(id)
        let bytes = (row?.cells.values).map { $0.reduce(0) { $0 + $1.value.value.byteCount } } ?? 0
        if rows.count >= Self.limit && rows[id] == nil || byteCount + bytes > Self.byteLimit {
            (rows, byteCount) = ([:], 0)
        }
        guard bytes <= Self.byteLimit else { return }
        rows[id] = (position, row)
        byteCount += bytes
    }
}
