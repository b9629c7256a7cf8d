extension StorageError.Code {
    /// The store has applied changes that this program doesn't know: a newer version of it was here.
    public static let newerSchema = StorageError.Code("newer-schema")
    /// A step of the schema failed; the store is as it was before.
    public static let migrationFailed = StorageError.Code("migration-failed")
}
