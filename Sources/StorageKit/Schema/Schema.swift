internal import GRDB
internal import StorageCore
public import StorageEntities
internal import StorageHistory
internal import StorageLog
internal import StorageProjections

/// What a program expects of its store, declared when it opens it: entities, indexes, migrations, in this order.
///
/// ```swift
/// let context = try StorageKit.start { schema in
///     schema.renameColumn("mail", to: "email", in: "users")
///     schema.autoSchema(UserRecord.self, PostRecord.self)
///     schema.migration("2026-01-20_lower_case") { db in
///         try db.execute(sql: "UPDATE users SET email = lower(email)")
///     }
/// }
/// ```
///
/// The steps run in the order in which they are declared. Each is a commit of its own, so the log shows what it
/// changed; all together are one transaction, so a store is never left between two versions.
public struct Schema: Sendable {
    /// One thing that is made so, where it isn't yet.
    struct Step: Sendable {
        /// What the step is called in plans, errors and the log.
        let title: String
        /// The name under which the store remembers that the step was done; nil for steps that look for themselves.
        let once: String?
        let run: @Sendable (WriteTransaction) throws -> Void
    }

    private(set) var steps: [Step] = []
    /// What the declared records look like, to be held against a store that can't be changed.
    private(set) var definitions: [EntityDefinition] = []
    private(set) var retired: Set<String> = []
    private(set) var options = SchemaOptions()
    /// What the declared conversions of columns do, by their titles.
    var upcasts: [String: Upcast] = [:]
    private(set) var projections: [ProjectionRegistration] = []
    /// A declaration that can't be right, reported when the schema is applied.
    private var mistake: StorageError?

    /// Declares nothing yet; for ``run(on:)``. What opens a store hands one to its closure.
    public init() {}

    /// Makes the tables of these records where they don't exist, and adds columns that they lack.
    ///
    /// A new column that isn't optional holds its property's default in rows from before, or `''`, `0`, an empty blob; a date is
    /// the first day of 2001.
    /// Nothing is ever removed or turned into something else: where that would be needed, the store is refused with
    /// the words that say it explicitly, such as ``renameColumn(_:to:in:)``.
    public mutating func autoSchema<each Record: StorageKitEntityRecord>(_ records: repeat (each Record).Type) {
        var declared: [EntityDefinition] = []
        for record in repeat each records { declared.append(EntityDefinition(record)) }
        definitions += declared
        let entities = declared
        addStep("schema") { tx in for definition in entities { try tx.writer.declare(definition) } }
    }

    /// Makes the tables of these entities, as ``autoSchema(_:)`` of their records does.
    ///
    /// ```swift
    /// schema.autoSchema(User.self, Note.self)
    /// ```
    @_disfavoredOverload
    public mutating func autoSchema<First: RegisteredEntity, each Entity: RegisteredEntity>(
        _ first: First.Type, _ others: repeat (each Entity).Type
    ) {
        autoSchema(First.Record.self, repeat (each Entity).Record.self)
    }

    /// Says how the schema is applied.
    public mutating func setOptions(_ options: SchemaOptions) {
        self.options = options
    }

    /// Names migrations and changes that this program doesn't declare any more, so that a store that has applied them
    /// doesn't count as one from a newer version.
    public mutating func retire(_ ids: String...) {
        retired.formUnion(ids)
    }

    /// Adds a step after those that are declared already.
    mutating func addStep(
        _ title: String, once: String? = nil, _ run: @escaping @Sendable (WriteTransaction) throws -> Void
    ) {
        if let once, steps.contains(where: { $0.once == once }) {
            mistake =
                mistake
                ?? StorageError(
                    .invalidArgument, "\"\(once)\" is declared twice.", remedy: "Give each migration a name of its own."
                )
        }
        steps.append(Step(title: title, once: once, run: run))
    }

    /// Adds a projection to those that are declared already.
    mutating func addProjection(_ registration: ProjectionRegistration) {
        if projections.contains(where: { $0.name == registration.name }) {
            mistake =
                mistake
                ?? StorageError(
                    .invalidArgument, "The projection \(registration.name) is declared twice.",
                    remedy: "Give each projection a name of its own.")
        }
        do { try registration.validate() } catch { mistake = mistake ?? error as? StorageError }
        projections.append(registration)
    }

    func checkMistakes() throws { if let mistake { throw mistake } }
}
