import StorageEntities
import StorageKit

/// A row that says which write it belongs to.
@StorageEntity(table: "marks")
struct Mark: Hashable {
    var id: String
    var batch: String
    var number: Int
    /// What the full-text index reads, and what makes rows large enough to fill pages.
    var text: String
}
