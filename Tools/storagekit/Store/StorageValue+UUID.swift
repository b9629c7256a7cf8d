import Foundation
import StorageKit

extension StorageValue {
    /// The UUID whose bytes this is, in a column of UUIDs.
    func uuid(_ coding: String) -> UUID? {
        // Other bytes may have been put there with SQL, and are shown as such.
        coding == ColumnSchema.uuid ? try? UUID(storageValue: self) : nil
    }
}
