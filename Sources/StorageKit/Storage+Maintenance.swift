internal import GRDB
internal import StorageCore
internal import StorageLog
public import StorageProjections

extension Storage {
    /// Checks the whole store against its log; reads every byte of it once.
    ///
    /// - Returns: What was found. Damage is a finding, not an error.
    public func verify() async throws -> VerifyReport {
        try await engine.read { db in
            guard let connection = db.sqliteConnection else { throw StorageError.closed() }
            var verifier = Verifier(connection)
            return verifier.run()
        }
    }

    /// Makes every entity table, full-text index and inline projection again from the log and puts the result in the place of the old ones, in one
    /// transaction. Writes wait meanwhile.
    public func rebuild() async throws {
        _ = try await engine.withWriter { writer, db in try Rebuilder(writer, db).run([], mode: .swap) }
    }

    /// Turns the log's tail into sealed runs now instead of in the background.
    public func seal() async throws { try await engine.seal() }
}
