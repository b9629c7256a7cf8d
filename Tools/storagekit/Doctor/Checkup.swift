/// The result of one check of a store.
struct Checkup: Sendable {
    enum Status: String, Sendable {
        case ok
        /// The store is intact, but needs attention.
        case warning = "warn"
        /// Something isn't as it must be, for example because of damage or drift.
        case failed = "fail"
    }

    /// The name of the check.
    let name: String
    let status: Status
    /// What was found.
    let message: String
    /// The command that fixes it, or other advice; empty if there is nothing to do.
    let remedy: String
    /// A repair that only touches derived data; nil if there is none.
    let repair: Repair?
    /// Whether the file or the log is damaged, so that a rebuild from it could lose rows.
    var isDamage = false

    enum Repair: Hashable, Sendable {
        /// Rebuilds tables of entities from the log.
        case rebuild([String])
        /// Makes a failed projection retry when its program opens the store.
        case resume(String)
        /// Creates the missing triggers of the write guard.
        case guardTables
        case seal
        case checkpoint
    }

    static func ok(_ name: String, _ message: String) -> Checkup {
        Checkup(name: name, status: .ok, message: message, remedy: "", repair: nil)
    }

    static func warning(
        _ name: String, _ message: String, remedy: String, repair: Repair? = nil
    ) -> Checkup {
        Checkup(name: name, status: .warning, message: message, remedy: remedy, repair: repair)
    }

    static func failed(
        _ name: String, _ message: String, remedy: String, repair: Repair? = nil
    ) -> Checkup {
        Checkup(name: name, status: .failed, message: message, remedy: remedy, repair: repair)
    }

    /// A failed check of what tables are rebuilt from.
    static func damaged(_ name: String, _ message: String, remedy: String) -> Checkup {
        var check = failed(name, message, remedy: remedy)
        check.isDamage = true
        return check
    }

    /// The check without the advice to rebuild tables, for a store whose log is damaged.
    var withoutRebuild: Checkup {
        guard case .rebuild = repair else { return self }
        return .failed(
            name, message,
            remedy:
                "Restore a backup: storagekit restore BACKUP -o NEW. Tables aren't rebuilt from a damaged log: they may have rows that it has lost."
        )
    }
}
