import StorageCore
import StorageLog
import StorageProjections

extension StoreOption {
    /// Opens the store, lets `body` write to it, and closes it.
    ///
    /// - Parameter isDryRun: Whether `body` only tries. Where somebody else has the store open for writing, that is done on a
    ///   copy.
    func write<Result>(
        isDryRun: Bool, _ body: (StorageEngine) async throws -> Result
    ) async throws -> Result {
        // Opening for writing would make a new store where the name is wrong.
        try await openForReading().close()
        do {
            return try await Self.run(at: path(), body)
        } catch let error as StorageError where error.code == .busy && isDryRun {
            let rehearsal = try await StoreRehearsal(of: self)
            defer { rehearsal.discard() }
            return try await Self.run(at: rehearsal.path, body)
        }
    }

    private static func run<Result>(
        at path: String, _ body: (StorageEngine) async throws -> Result
    ) async throws -> Result {
        let engine = try StorageEngine.openStore(path: path, configuration: StorageConfiguration())
        do {
            let result = try await body(engine)
            try await engine.close()
            return result
        } catch {
            // Whatever was done is done; closing tidies up and its own failure would hide why.
            try? await engine.close()
            throw error
        }
    }
}
