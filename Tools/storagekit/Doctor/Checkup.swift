/// What one check of a store found.
struct Checkup: Sendable {
    enum Status: String, Sendable {
        case ok
        /// The store is sound, but somebody should look.
        case warning = "warn"
        /// Something isn't as it must be.
        case failed = "fail"
    }

    /// What is checked, in a word.
    let name: String
    let status: Status
    /// What was found.
    let message: String
    /// The command that mends it, or what else to do; empty where there is nothing to do.
    let remedy: String
    /// What mends it from derived data alone.
    let repair: Repair?

    enum Repair: Hashable, Sendable {
        /// Tables of entities are made again from the log.
        case rebuild([String])
        /// A projection that has failed tries again when its program opens the store.
        case resume(String)
        /// The write guard gets its missing triggers.
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
}
