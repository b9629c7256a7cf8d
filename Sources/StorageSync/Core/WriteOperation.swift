package import StorageCore

package enum WriteOperation: Sendable, Equatable {
    /// All columns.
    case save([String: StorageValue])
    /// Some columns of a document that there is.
    case patch([String: StorageValue])
    case delete
}
