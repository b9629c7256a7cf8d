extension StorageError.Code {
    /// A projection threw, or is stalled because it did.
    public static let projectionFailed = StorageError.Code("projection-failed")
}
