package import StorageCore
internal import StorageLog

extension StorageError {
    package static func projectionFailed(
        _ name: String, at positions: ClosedRange<Int64>, cause: any Error
    ) -> StorageError {
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

    static func projectionWrites(_ name: String) -> StorageError {
        StorageError(
            .invalidArgument,
            "The projection \(name) writes to the table of an entity, which would be an event of its own.",
            remedy: "Let it write to its own tables only.")
    }
}
