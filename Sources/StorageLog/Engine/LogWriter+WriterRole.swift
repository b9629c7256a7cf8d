internal import CSQLite

extension LogWriter {
    /// Runs `body` with the guards of the engine's tables open and nothing captured.
    package func asEngine<Result>(_ body: () throws -> Result) rethrows -> Result {
        try with(WriterRole(engine: 1, isSuppressed: 1), body)
    }

    /// Runs `body`, which writes tags, notes or operations: only the engine may, and the changes are captured.
    package func annotating<Result>(_ body: () throws -> Result) rethrows -> Result {
        try with(WriterRole(engine: 1, isSuppressed: 0), body)
    }

    /// Runs `body` with the guards of projections' own tables open. Changes of entities are captured, so that they can be
    /// seen and refused.
    package func asProjection<Result>(_ body: () throws -> Result) rethrows -> Result {
        try with(WriterRole(engine: 2, isSuppressed: 0), body)
    }

    /// Makes FTS5 write its pending terms, which it otherwise keeps until the next savepoint or the end of the transaction, when the
    /// writer may have a role that can't write to its tables.
    package func flushFullTextIndexes() throws {
        try statement("SAVEPOINT storage_words").execute()
        try statement("RELEASE storage_words").execute()
    }

    private func with<Result>(_ wanted: WriterRole, _ body: () throws -> Result) rethrows -> Result {
        let before = role
        take(wanted)
        defer { take(before) }
        return try body()
    }

    private func take(_ wanted: WriterRole) {
        role = wanted
        if wanted.engine == 2 { hasRunProjection = true }
        storage_capture_set_engine(capture, wanted.engine)
        storage_capture_set_suppressed(capture, wanted.isSuppressed)
    }
}

/// The role in which the writer works.
struct WriterRole {
    /// The result of the SQL function storage_engine(): 1 for the engine, 2 for a projection.
    var engine: Int32 = 0
    var isSuppressed: Int32 = 0
}
