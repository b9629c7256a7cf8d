package import StorageCore

package enum WriteOperation: Sendable, Equatable {
    /// All columns.
    case save([String: StorageValue])
    /// Some columns of an existing document.
    case patch([String: StorageValue])
    case delete
}
