internal import StorageLog

/// How a commit says that its writes expect something of the remote.
enum SyncPreconditionAttribute {
    static let name = "sync.expecting"
    static let unchanged = "unchanged"

    static func isStated(in metadata: CommitMetadata) -> Bool { metadata.attributes[name] == unchanged }
}
