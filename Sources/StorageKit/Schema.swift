internal import GRDB
internal import StorageCore
internal import StorageLog
public import StorageProjections

/// The entities of a store, as a program declares them when it opens it.
public struct Schema: Sendable {
    private var definitions: [EntityDefinition] = []

    /// Makes the tables of these records where they don't exist, and adds columns that they lack. Nothing is ever
    /// removed. A new column that isn't optional holds `''`, `0` or an empty blob in rows from before.
    @discardableResult
    public mutating func autoSchema<each Record: StorageKitEntityRecord>(_ records: repeat (each Record).Type) -> Schema
    {
        for record in repeat each records { definitions.append(EntityDefinition(record)) }
        return self
    }

    /// Brings the store to what is declared, as one commit; writes nothing when it is there already.
    func apply(to engine: StorageEngine) throws {
        guard !definitions.isEmpty, !engine.configuration.isReadOnly else { return }
        try engine.withWriterNow { writer, db in
            let metadata = CommitMetadata(app: "StorageKit", reason: "schema")
            try writer.group(db) {
                _ = try writer.commit(metadata) { for definition in definitions { try writer.declare(definition) } }
            }
        }
    }
}
