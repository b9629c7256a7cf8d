internal import StorageCore
internal import StorageLog

/// A projection threw while it followed the log.
struct ApplyFailure: Error {
    let cause: any Error
    /// The batch that it was given.
    let positions: ClosedRange<Int64>
}

extension Error {
    /// Whether the store itself is in trouble, so that it isn't the projection's fault.
    var isOfTheStore: Bool {
        guard let error = StorageError.wrapping(self) as? StorageError else { return false }
        return [.ioError, .corrupt, .unusable, .closed, .busy, .readOnly].contains(error.code)
    }
}

extension StorageError {
    static func projectionFailed(_ name: String, _ positions: ClosedRange<Int64>, _ cause: any Error) -> StorageError {
        let known = StorageError.wrapping(cause)
        let code = cause.isOfTheStore ? (known as? StorageError)?.code ?? .projectionFailed : .projectionFailed
        return StorageError(
            code,
            "The projection \(name) failed to apply @\(positions.lowerBound)…@\(positions.upperBound): \((known as? StorageError)?.message ?? "\(known)")",
            remedy: "Correct the projection or the write; nothing was committed.", cause: cause)
    }

    static func noProjection(_ name: String) -> StorageError {
        StorageError(
            .notFound, "There is no projection \(name).",
            remedy: "`storage.projections.status()` lists them.")
    }
}
