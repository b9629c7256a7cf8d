internal import Foundation
internal import StorageCore

extension StorageError {
    static func damagedAtRoot(_ path: String, _ problem: String, cause: (any Error)? = nil) -> StorageError {
        StorageError(
            .corrupt, "The store \(path) is damaged at its root: \(problem)",
            remedy:
                "Restore a backup: storagekit restore BACKUP -o NEW. Without one, sqlite3 STORE .recover may save rows.",
            cause: cause)
    }

    /// An error for a file with the tables of a store, whose `application_id` was changed.
    static func withoutMark(_ path: String) -> StorageError {
        StorageError(
            .corrupt, "\(path) has the tables of a store, but its application_id isn't that of StorageKit.",
            remedy:
                "Set it in a copy of the file, then check the copy: sqlite3 COPY 'PRAGMA application_id = \(StoreSchema.applicationId)', storagekit verify -s COPY. Or restore a backup."
        )
    }

    /// An error of opening a file, with the file's name.
    static func opening(_ path: String, _ error: any Error) -> any Error {
        let error = wrapping(error)
        guard let error = error as? StorageError, error.code == .corrupt else { return error }
        if let head = try? StoreFileCheck.head(of: path), StoreFileCheck.isMarked(head) {
            return damagedAtRoot(path, error.message, cause: error)
        }
        return StorageError(
            .notAStore, "\(path) isn't a StorageKit store, or it is damaged at its very beginning: \(error.message)",
            remedy: "Check the name; if it is a store, restore a backup.", cause: error)
    }
}
