internal import StorageLog

/// Marks commits whose writes have a precondition at the remote.
enum SyncPreconditionAttribute {
    static let name = "sync.expecting"
    static let unchanged = "unchanged"

    static func isStated(in metadata: CommitMetadata) -> Bool { metadata.attributes[name] == unchanged }
}
