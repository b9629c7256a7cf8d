import Foundation
import StorageKit

extension StoreOption {
    /// Opens the store for reading only.
    func openForReading() throws -> Storage {
        var configuration = StorageConfig()
        configuration.isReadOnly = true
        let path = try path()
        // SQLite only reports that it can't open the file.
        if access(path, R_OK) != 0, errno == EACCES {
            throw CommandError(
                .unavailable, "The store \(path) can't be read: \(String(cString: strerror(EACCES))).",
                next: "Who may read it: ls -l \(path.quotedAsShellWord)")
        }
        return try Storage.open(path: path, configuration: configuration)
    }

    /// Runs `body` on one state of the store.
    func read<Result: Sendable>(_ body: @escaping @Sendable (HistoryReader) throws -> Result) async throws -> Result {
        let storage = try openForReading()
        let result = try await storage.readHistory { store in
            try ServedCommand.report(store)
            return try body(store)
        }
        try await storage.close()
        return result
    }

    /// Runs `body` on one state of the store at a path, without waiting: throws if something is locked.
    static func readWithoutWaiting<Result: Sendable>(
        _ path: String, _ body: @escaping @Sendable (HistoryReader) throws -> Result
    ) async throws -> Result {
        var configuration = StorageConfig()
        configuration.isReadOnly = true
        configuration.busyTimeout = .zero
        return try await Storage.open(path: path, configuration: configuration).readHistory(body)
    }
}
