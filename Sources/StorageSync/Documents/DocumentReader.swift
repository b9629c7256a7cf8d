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

    /// A document as it was before one of its events; nil if there was none.
    func document(_ id: String, before position: Int64) throws -> DocumentFields? {
        try fields(id, try row(id, after: try log.previous(ofEventAt: position)))
    }

    /// What a write did to its document.
    ///
    /// - Parameter since: Writes up to this position were made before there was an engine: only this store knows their documents, so they are sent
    ///   whole.
    func operation(of write: PendingWrite, since: Int64) throws -> DocumentOperation {
        let id = write.document.id
        let old = try row(id, after: try log.previous(ofEventAt: write.position))
        let new = try log.image(ofEventAt: write.position, on: old)
        rows.set(new, after: write.position, of: id)
        let isWhole = write.kind == .save || write.position <= since
        return DocumentOperation(from: isWhole ? nil : try fields(id, old), to: try fields(id, new))
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
