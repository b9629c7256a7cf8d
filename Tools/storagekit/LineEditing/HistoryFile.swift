import Foundation

/// Where what was typed at a prompt is kept, as the XDG base directories have it.
enum HistoryFile {
    /// The file of a prompt, in a folder that is there and nobody else's; nil where there is none.
    static func path(_ name: String, environment: [String: String] = ProcessInfo.processInfo.environment) -> String? {
        // A path that isn't absolute is to be ignored.
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
