internal import Foundation

/// Files for stored data, which only those may read who may read the data where it is from.
enum StoredFile {
    /// Creates an empty file with the owner and permissions of another, or for the owner alone if there is no other. Its owner can
    /// always write to it.
    ///
    /// - Returns: Whether it could be created; `errno` says why not.
    static func create(_ path: String, like model: String) -> Bool {
        let descriptor = open(path, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        var info = stat()
        guard stat(model, &info) == 0 else { return true }
        // Only root can create files for others.
        if geteuid() == 0 { fchown(descriptor, info.st_uid, info.st_gid) }
        fchmod(descriptor, info.st_mode & 0o777 | 0o600)
        return true
    }
}
