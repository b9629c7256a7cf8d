import StorageEntities
import StorageKit

/// An entity that a later version of a program declares.
@StorageEntity(table: "labels")
struct Label: Hashable {
    var id: Int
    var text: String
}
