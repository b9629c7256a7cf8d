import Foundation
import StorageKit

extension StorageValue {
    /// Returns the UUID with these bytes, in a column of UUIDs.
    func uuid(_ coding: String) -> UUID? {
        // Other bytes may have been stored with SQL; they are shown as bytes.
        coding == ColumnSchema.uuid ? try? UUID(storageValue: self) : nil
    }
}
