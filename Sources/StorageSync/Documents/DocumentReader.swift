internal import StorageCore
internal import StorageHistory
internal import StorageLog

/// Reads from the log what documents were before and after their events.
///
/// Events tell changed columns only, so a document is put together from all of its events before; the rows of those that were read last
/// are kept, so that one event after another is read in one step each, however often a document was changed.
///
/// Not `Sendable`: it belongs to its connection's thread.
final class DocumentReader<T: DataSyncModelProtocol> {
    private let table: DocumentTable<T>
    private let log: LogReader
    private let catalog: Catalog
    private let upcasts: [String: Upcast]
    private(set) var rows: RecentRows

    /// - Parameters:
    ///   - catalog: As the connection has it.
    ///   - rows: Those that were read before.
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

    /// A document as it was before one of its events; nil where there was none.
    func document(_ id: String, before position: Int64) throws -> DocumentFields? {
        try fields(id, try row(id, after: try log.previous(ofEventAt: position)))
    }

    /// What a write did to its document.
    ///
    /// - Parameter since: Up to which position writes were made before there was an engine: nobody but this store knows anything of
    ///   their documents, so those are told whole.
    func operation(of write: PendingWrite, since: Int64) throws -> DocumentOperation {
        let id = write.document.id
        let old = try row(id, after: try log.previous(ofEventAt: write.position))
        let new = try log.image(ofEventAt: write.position, on: old)
        rows.set(new, after: write.position, of: id)
        let isWhole = write.kind == .save || write.position <= since
        return DocumentOperation(from: isWhole ? nil : try fields(id, old), to: try fields(id, new))
    }

    /// - Parameter position: Of one of the row's events; 0 for before all of them.
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
    /// So many are kept at the most, and so many bytes.
    private static let limit = 256
    private static let byteLimit = 8 << 20

    private var rows: [ExactText: (position: Int64, row: RowImage?)] = [:]
    /// Of those that were ever set since all were forgotten last.
    private var byteCount = 0

    /// - Returns: nil where the row isn't known after just that event, or there was none.
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
