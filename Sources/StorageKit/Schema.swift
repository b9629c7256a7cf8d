internal import GRDB
internal import StorageCore
internal import StorageLog
public import StorageProjections

/// What a program expects of its store, declared when it opens it: entities, indexes, migrations, in this order.
public struct Schema: Sendable {
    /// One thing that is made so, where it isn't yet. Each step is a commit of its own; all are one transaction.
    struct Step: Sendable {
        /// What the step is called in plans and errors.
        let title: String
        let run: @Sendable (WriteTransaction) throws -> Void
    }

    private(set) var steps: [Step] = []

    /// Adds a step after those that are declared already.
    mutating func addStep(_ title: String, _ run: @escaping @Sendable (WriteTransaction) throws -> Void) {
        steps.append(Step(title: title, run: run))
    }

    /// Makes the tables of these records where they don't exist, and adds columns that they lack. Nothing is ever
    /// removed. A new column that isn't optional holds `''`, `0` or an empty blob in rows from before.
    @discardableResult
    public mutating func autoSchema<each Record: StorageKitEntityRecord>(_ records: repeat (each Record).Type) -> Schema
    {
        var definitions: [EntityDefinition] = []
        for record in repeat each records { definitions.append(EntityDefinition(record)) }
        let declared = definitions
        addStep("schema") { tx in for definition in declared { try tx.writer.declare(definition) } }
        return self
    }

    /// Brings the store to what is declared; writes nothing when it is there already.
    func apply(to engine: StorageEngine) throws {
        guard !steps.isEmpty, !engine.configuration.isReadOnly else { return }
        try engine.withWriterNow { writer, db in
            try writer.group(db) {
                for step in steps {
                    _ = try writer.commit(CommitMetadata(app: "StorageKit", reason: step.title)) {
                        try step.run(WriteTransaction(writer: writer, database: db))
                    }
                }
            }
        }
    }
}
