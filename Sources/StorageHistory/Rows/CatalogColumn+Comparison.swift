internal import StorageCore
package import StorageLog

extension CatalogColumn {
    /// The type and collation with which another table compares, sorts and groups values as the column's own does. A collation of
    /// the program's own is unknown to other connections, and counts as `BINARY`.
    package var comparisonClause: String {
        guard let collation = knownCollation, collation != .binary else { return affinity.rawValue }
        return "\(affinity.rawValue) COLLATE \(collation.rawValue)"
    }
}
