// swift-format-ignore-file

/// A user.
@available(macOS 15, *)
@StorageEntity  // kept in one table
@frozen
public nonisolated struct User {
    /// The key.
    @Trimmed public var id: String  // never changes
    // A line of its own.
    public var name: /* as shown */ String /* not unique */ = "a" // with a default
}
