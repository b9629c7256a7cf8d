import GRDB
import StorageKit

extension StoreOption {
    /// Opens the store, lets `body` write to it, and closes it.
    ///
    /// - Parameters:
    ///   - isDryRun: Whether `body` only tries. If another program has the store open for writing, that is done on a copy.
    ///   - repairs: Whether it repairs tables that differ from the log; other changes are refused on such tables.
    func write<Result>(
        isDryRun: Bool, repairs: Bool = false, _ body: (Storage) async throws -> Result
    ) async throws -> Result {
        let body = { (storage: Storage) in
            if !repairs { try await storage.checkEnd() }
            return try await body(storage)
        }
        // Opening for writing would create a new store if the name is wrong.
        let storage = try openForReading()
        if ServedCommand.isServed { try await storage.readHistory { try ServedCommand.report($0) } }
        try await storage.close()
        guard !ServedCommand.isServed else { return try await tryOnCopy(isDryRun: isDryRun, body) }
        do {
            return try await Self.run(at: path(), body)
        } catch let error as StorageError where error.code == .busy && isDryRun {
            return try await tryOnCopy(isDryRun: isDryRun, body)
        }
    }

    private func tryOnCopy<Result>(
        isDryRun: Bool, _ body: (Storage) async throws -> Result
    ) async throws -> Result {
        guard isDryRun else {
            throw CommandError(.unavailable, "Nothing was changed: commands of a server only read.")
        }
        return try await UnfinishedFiles.removedBySignals {
            let copy = try await DryRunCopy(of: self)
            defer { copy.discard() }
            return try await Self.run(at: copy.path, body)
        }
    }

    private static func run<Result>(
        at path: String, _ body: (Storage) async throws -> Result
    ) async throws -> Result {
        let storage = try Storage.open(path: path)
        do {
            let result = try await body(storage)
            try await storage.close()
            return result
        } catch {
            // What was committed stays; an error of closing would hide the original one.
            try? await storage.close()
            throw error
        }
    }
}

extension Storage {
    /// - Throws: `corrupt` if the tables and the log have diverged, so that nothing must be written.
    func checkEnd() async throws {
        try await engine.read { (db: GRDB.Database) in
            let connection = try db.connection
            try LogEndCheck.run(connection)
        }
    }
}
