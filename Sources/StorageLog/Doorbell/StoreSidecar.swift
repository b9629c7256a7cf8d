internal import Foundation

/// Files beside a store, for every process that may use the store.
enum StoreSidecar {
    /// Gives an open file beside a store the owner and permissions of the store's file, without those to run it. Its owner can
    /// always write to it.
    static func share(_ descriptor: Int32, like store: String) {
        var info = stat()
        guard stat(store, &info) == 0 else { return }
        fchmod(descriptor, info.st_mode & 0o666 | 0o600)
        // Only root can create files for others.
        if geteuid() == 0 { fchown(descriptor, info.st_uid, info.st_gid) }
    }
}
