import StorageKit

/// The answer of `backup`.
///
/// - `dry_run`: Whether nothing was copied.
/// - `backup`: The new file, as it was named.
/// - `position`, `commit`: The last ones in it.
/// - `bytes`: Its size.
/// - `verified`: Whether every byte of it was read and checked.
struct BackupRecord: JSONRecord {
    let backup: StoreBackup
    let path: String
    let isDryRun: Bool

    func write(to json: inout JSONWriter) {
        json.member("dry_run", isDryRun)
        json.member("backup", path)
        json.member("position", backup.position)
        json.member("commit", backup.commit)
        json.member("bytes", backup.bytes)
        json.member("verified", backup.isVerified)
    }
}
