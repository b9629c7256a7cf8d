package import CSQLite

extension StorageEvent.Operation {
    /// What the events of a shape do.
    package init(_ shape: storage_shape) {
        switch Int(shape.operation) {
        case STORAGE_INSERT: self = .insert
        case STORAGE_DELETE: self = .delete
        default: self = .update
        }
    }
}
