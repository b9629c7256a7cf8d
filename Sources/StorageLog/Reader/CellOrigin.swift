package import StorageCore

/// A value of a row, and the event that set it.
///
/// ```swift
/// for cell in try await storage.blame(User.self, id: "42") ?? [] {
///     print(cell.field.column, "since", cell.commit.date.formatted(), "by", cell.commit.metadata.actor ?? "")
/// }
/// ```
public struct CellOrigin: Sendable, Hashable {
    /// The column and its value.
    public let field: StorageEvent.Field
    /// Position of the event that set the value: the row's insert, or an update of this column.
    public let position: Int64
    /// The commit of that event: who, when and why.
    public let commit: CommitInfo
    /// Whether the value comes from a commit that was to be ignored, because that commit inserted the row.
    public let isIgnored: Bool
}

extension LogReader {
    /// Finds the origin of each value of a row, in the order of its columns. Costs one look-up for each version of the row, back
    /// to where all origins are known.
    ///
    /// - Parameters:
    ///   - entity: The row's entity in the current schema.
    ///   - position: The state to explain.
    ///   - wanted: The columns to explain, by their ids; all outside the key if nil. The key's origin is the row's insert.
    ///   - ignored: Commits to ignore: the event before counts as the origin.
    /// - Returns: nil if there was no such row.
    package func origins(
        of key: [StorageValue], in entity: CatalogEntity, at position: Int64, columns wanted: Set<UInt32>? = nil,
        ignoring ignored: (CommitInfo) -> Bool = { _ in false }
    ) throws -> [CellOrigin]? {
        let then = try Catalog.load(database, at: position).entity(id: entity.id) ?? entity
        var columns = then.live.filter { wanted?.contains($0.id) ?? ($0.keyOrdinal == 0) }
        // A row without other columns is explained by its key.
        if columns.isEmpty, wanted == nil { columns = then.key }
        let image = try image(
            of: key, in: entity, at: position, columns: Set(columns.map(\.id)), ignoring: ignored)
        guard let image else { return nil }
        return try columns.compactMap { column in
            guard let origin = image.origin(of: column), let batch = try batch(containing: origin.setAt) else {
                return nil
            }
            return CellOrigin(
                field: StorageEvent.Field(
                    column.keyOrdinal > 0 ? key[column.keyOrdinal - 1] : image.value(of: column).value, of: column),
                position: origin.setAt, commit: batch.commit(ofEvent: Int(origin.setAt - batch.header.first)),
                isIgnored: origin.isIgnored)
        }
    }
}

extension CellOrigin: CustomStringConvertible {
    /// The value, and what set it: `title: "b" @101 t:12 2026-01-15T10:00:00Z anna`.
    public var description: String { "\(field) @\(position) \(commit)" }
}
