import StorageEntities
import StorageKit

/// The rows of the worker.
@StorageEntity(table: "marks")
struct Mark: Hashable {
    var id: String
    var batch: String
    var number: Int
}
