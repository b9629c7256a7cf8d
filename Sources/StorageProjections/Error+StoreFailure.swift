internal import StorageCore
internal import StorageLog

extension Error {
    /// Whether the store itself is in trouble, so that it isn't the projection's fault.
    package var isStoreOrDiskFailure: Bool {
        guard let error = StorageError.wrapping(self) as? StorageError else { return false }
        return [.ioError, .corrupt, .unusable, .closed, .busy, .readOnly].contains(error.code)
    }
}
