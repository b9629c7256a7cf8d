extension StorageError.Code {
    /// A projection threw, or stands still because it did.
    public static let projectionFailed = StorageError.Code("projection-failed")
}
