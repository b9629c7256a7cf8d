extension StorageError.Code {
    /// A newer version of this program has applied changes to the store that this version doesn't know.
    public static let newerSchema = StorageError.Code("newer-schema")
    /// A step of the schema failed; the store is as it was before.
    public static let migrationFailed = StorageError.Code("migration-failed")
}
