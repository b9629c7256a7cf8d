extension StorageError {
    /// An error for an entity that the store was opened without.
    package static func noEntity(_ table: String) -> StorageError {
        StorageError(
            .notFound, "The store has no entity \"\(table)\": it wasn't declared when the store was opened.",
            remedy: "Declare it in the schema that the store is opened with: autoSchema(…) with its record.")
    }
}
