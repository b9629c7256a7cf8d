package import StorageCore

extension LogReader {
    /// Finds points in the state that the reader's connection sees.
    package func points() throws -> PointResolver {
        PointResolver(log: self, index: try LogIndex(self), tags: TagReader(self))
    }

    /// The last position that a point includes.
    ///
    /// - Throws: `not-found` for a point that isn't in the log.
    package func position(of point: StoragePoint) throws -> Int64 {
        try MissingPoint.explained { try points().position(of: point) }
    }

    /// The position that a tag or note of a point gets; see ``PointResolver/taggedPosition(of:)``.
    ///
    /// - Throws: `not-found` for a point that isn't in the log.
    package func taggedPosition(of point: StoragePoint) throws -> Int64 {
        try MissingPoint.explained { try points().taggedPosition(of: point) }
    }
}
