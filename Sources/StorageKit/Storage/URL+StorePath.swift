internal import Foundation
internal import StorageCore

extension URL {
    /// The path of the file of a store or a backup.
    ///
    /// - Throws: `invalid-argument` for a URL of something else, whose path could be that of another file.
    var storePath: String {
        get throws {
            guard scheme == nil || isFileURL else {
                throw StorageError(
                    .invalidArgument, "\(absoluteString) isn't the URL of a file.",
                    remedy: "Use URL(fileURLWithPath:); a store and its backups are local files.")
            }
            return path
        }
    }
}
