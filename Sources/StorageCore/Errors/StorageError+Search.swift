extension StorageError.Code {
    /// A query or search can't be understood.
    public static let invalidQuery = StorageError.Code("invalid-query")
}
