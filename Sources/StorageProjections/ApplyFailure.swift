internal import StorageCore
internal import StorageLog

/// A projection threw while it followed the log.
package struct ApplyFailure: Error {
    package let cause: any Error
    /// The batch that it was given.
    package let positions: ClosedRange<Int64>
}

extension Error {
    /// Whether the store itself is in trouble, so that it isn't the projection's fault.
    package var isStoreOrDiskFailure: Bool {
        guard let error = StorageError.wrapping(self) as? StorageError else { return false }
        return [.ioError, .corrupt, .unusable, .closed, .busy, .readOnly].contains(error.code)
    }
}
