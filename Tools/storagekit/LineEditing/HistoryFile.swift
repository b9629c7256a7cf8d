import Foundation

/// The file of a prompt's history, in the XDG state directory.
enum HistoryFile {
    /// Returns the file of a prompt, in a folder that exists and is private to the user; nil if there is none.
    static func path(_ name: String, environment: [String: String] = ProcessInfo.processInfo.environment) -> String? {
        // A path that isn't absolute must be ignored.
        let stated = environment["XDG_STATE_HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil }
        guard let state = stated ?? environment["HOME"].map({ "\($0)/.local/state" }) else { return nil }
        let folder = "\(state)/storagekit"
        do {
            try FileManager.default.createDirectory(
                atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        } catch {
            // Without a folder, the history ends with the process.
            return nil
        }
        return "\(folder)/\(name)_history"
    }
}
