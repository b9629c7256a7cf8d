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
