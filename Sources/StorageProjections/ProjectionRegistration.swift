internal import StorageCore
internal import StorageLog

/// A projection as a program declares it.
package struct ProjectionRegistration: Sendable {
    package let projection: any Projection
    package let mode: ProjectionMode
    package let onFailure: FailurePolicy
    package let onReplayFailure: FailurePolicy
    /// The approximate number of events that a projection applies at once while it is behind.
    package let batchSize: Int

    package init(
        _ projection: any Projection, mode: ProjectionMode, onFailure: FailurePolicy, onReplayFailure: FailurePolicy,
        batchSize: Int
    ) {
        self.projection = projection
        self.mode = mode
        self.onFailure = onFailure
        self.onReplayFailure = onReplayFailure
        self.batchSize = batchSize
    }

    package var name: String { projection.name }

    func policy(isReplay: Bool) -> FailurePolicy { isReplay ? onReplayFailure : onFailure }

    /// - Throws: `invalid-name` or `invalid-argument` where it can't be meant so.
    package func validate() throws {
        let bytes = name.utf8
        let isPlain = bytes.allSatisfy {
            (0x61...0x7A).contains($0) || (0x41...0x5A).contains($0) || (0x30...0x39).contains($0) || $0 == 0x5F
                || $0 == 0x2D || $0 == 0x2E
        }
        guard !bytes.isEmpty, bytes.count <= 100, isPlain else {
            throw StorageError(
                .invalidName, "A projection can't be named \"\(name)\".",
                remedy: "Use up to 100 letters, digits, and the signs _ - . of ASCII.")
        }
        guard projection.version > 0, batchSize > 0 else {
            throw StorageError(
                .invalidArgument,
                "The projection \(name) has version \(projection.version) and batches of \(batchSize) events.",
                remedy: "Use numbers of at least 1.")
        }
    }
}
