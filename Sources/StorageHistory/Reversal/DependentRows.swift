internal import StorageLog

/// Which changed rows must be left out of the changes together with another one.
///
/// - A row that refers to an inserted one: if that isn't inserted, it refers to a missing row.
/// - A row that is deleted, for one that refers to it before the changes: if that stays as it is, so must its reference. Where a
///   foreign key deletes or changes rows itself, they are kept from that one by one.
///
/// - Complexity: O(n log m) for n changed rows of tables with m rows.
struct DependentRows {
    private struct Dependent {
        let row: RowAddress
        /// Whether it refers to the other row; else that refers to it.
        let isReferring: Bool
    }

    private struct Change {
        let existed: Bool
        var exists: Bool
    }

    private var changes: [RowAddress: Change] = [:]
    /// The changed rows, in the order of their first changes.
    private var rows: [RowAddress] = []
    private var dependents: [RowAddress: [Dependent]] = [:]

    /// None.
    init() {}

    /// The rows that refer to inserted ones; the changes are made.
    ///
    /// - Parameter start: The index of the first captured event.
    init(_ writer: LogWriter, changedFrom start: Int) throws {
        let view = writer.captured
        var changes: [RowAddress: Change] = [:]
        for index in start..<view.count {
            let shape = view.shape(of: index)
            let row = RowAddress(view, at: index)
            if changes[row] == nil { rows.append(row) }
            changes[row, default: Change(existed: !shape.isInsert, exists: true)].exists = !shape.isDelete
        }
        self.changes = changes
        try writer.forEachReference(among: rows) { _, referring, referred in
            guard let change = changes[referred], !change.existed, change.exists else { return }
            dependents[referred, default: []].append(Dependent(row: referring, isReferring: true))
        }
    }

    /// Adds the deleted rows to which others refer; the changes are undone.
    mutating func addReferredRows(_ writer: LogWriter) throws {
        let changes = changes
        try writer.forEachReference(among: rows) { constraint, referring, referred in
            guard constraint.hasNoAction, let change = changes[referred], change.existed, !change.exists else { return }
            dependents[referring, default: []].append(Dependent(row: referred, isReferring: false))
        }
    }

    /// The rows that must be left out with a row.
    func causes(of row: RowAddress, _ writer: LogWriter) -> [InvalidReference.Cause] {
        guard let other = writer.catalog.entity(id: row.entity) else { return [] }
        return (dependents[row] ?? []).compactMap { dependent in
            guard let entity = writer.catalog.entity(id: dependent.row.entity) else { return nil }
            let reason =
                dependent.isReferring
                ? "it refers to a row of \(other.name) that isn't there"
                : "\(ChangeText.row(other.name, row.values.map(\.value))) refers to it"
            return InvalidReference.cause(entity, dependent.row.values, because: reason)
        }
    }
}
