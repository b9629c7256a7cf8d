internal import StorageCore
internal import StorageLog

extension Error {
    /// Whether the store itself has failed, as opposed to the projection.
    package var isStoreOrDiskFailure: Bool {
        guard let error = StorageError.wrapping(self) as? StorageError else { return false }
        return [.ioError, .corrupt, .unusable, .closed, .busy, .readOnly].contains(error.code)
    }
}
