internal import GRDB
package import StorageCore

extension StorageError {
    package static func closed() -> StorageError {
        StorageError(.closed, "The store is closed.", remedy: "Open it again with StorageKit.start.")
    }

    /// Converts any error to a `StorageError`.
    package static func wrapping(_ error: any Error) -> any Error {
        switch error {
        case let error as StorageError: error
        case let error as DatabaseError:
            StorageError.sqlite(
                code: error.extendedResultCode.rawValue, message: error.message ?? "no message", sql: error.sql,
                cause: error)
        default: error
        }
    }
}
