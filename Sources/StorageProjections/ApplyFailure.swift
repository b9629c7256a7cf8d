package import StorageCore
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

extension StorageError {
    package static func projectionFailed(_ name: String, _ positions: ClosedRange<Int64>, _ cause: any Error) -> StorageError {
        let known = StorageError.wrapping(cause)
        let code = cause.isStoreOrDiskFailure ? (known as? StorageError)?.code ?? .projectionFailed : .projectionFailed
        return StorageError(
            code,
            "The projection \(name) failed to apply @\(positions.lowerBound)…@\(positions.upperBound): \((known as? StorageError)?.message ?? "\(known)")",
            remedy: "Correct the projection or the write; nothing was committed.", cause: cause)
    }

    package static func noProjection(_ name: String) -> StorageError {
        StorageError(
            .notFound, "There is no projection \(name).",
            remedy: "`storage.projections.status()` lists them.")
    }
}
