internal import StorageCore

extension StorageError {
    static func noDocument(_ id: String) -> StorageError {
        StorageError(
            .notFound, "There is no document \"\(id)\".", remedy: "Save it before you change some of its fields.")
    }
}
