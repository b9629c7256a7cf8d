extension StorageError.Code {
    /// A query or search can't be parsed.
    public static let invalidQuery = StorageError.Code("invalid-query")
}
