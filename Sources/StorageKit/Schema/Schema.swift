internal import GRDB
internal import StorageCore
public import StorageEntities
internal import StorageHistory
internal import StorageLog
internal import StorageProjections

/// The schema that a program declares when it opens its store: entities, indexes, migrations, in this order.
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
/// The steps run in the order in which they are declared. Each is a separate commit, so the log shows what it changed; all
/// together are one transaction, so a store is never left between two versions.
public struct Schema: Sendable {
    /// One declared step; does nothing if the store already conforms.
    struct Step: Sendable {
        /// The step's name in plans, errors and the log.
        let title: String
        /// The name under which the store records that the step was done; nil for steps that inspect the store instead.
        let once: String?
        let run: @Sendable (WriteTransaction, inout AwaitedColumns) throws -> Void
    }

    private(set) var steps: [Step] = []
    /// The definitions of the declared records, to check a store that can't be changed against.
    private(set) var definitions: [EntityDefinition] = []
    private(set) var retired: Set<String> = []
    private(set) var options = SchemaOptions()
    /// The declared column conversions, by title.
    var upcasts: [String: Upcast] = [:]
    private(set) var projections: [ProjectionRegistration] = []
    /// The error of an invalid declaration, reported when the schema is applied.
    private var mistake: StorageError?

    /// Creates an empty schema for ``run(on:)``. Calls that open a store pass a schema to their closure.
    public init() {}

    /// Creates the tables of these records if they don't exist, and adds missing columns.
    ///
    /// In existing rows, a new column gets its property's initial value if that is constant: literals, operators on them, cases and
    /// other members of the property's type, limits such as `Int.max`, and empty values such as `.init()`. Without an initial
    /// value, a column that isn't optional gets `''`, `0` or an empty blob; a date is the first day of 2001. A store with a new
    /// column whose initial value isn't constant, such as `Date()` or that of an embedded property, is refused, unless the column
    /// is optional.
    ///
    /// Nothing is ever removed or converted: if that were needed, the store is refused, and the error names the call to make,
    /// such as ``renameColumn(_:to:in:id:)``.
    public mutating func autoSchema<each Record: StorageKitEntityRecord>(_ records: repeat (each Record).Type) {
        var declared: [EntityDefinition] = []
        for record in repeat each records { declared.append(EntityDefinition(record)) }
        definitions += declared
        let entities = declared
        addStep("schema") { tx in for definition in entities { try tx.writer.declare(definition) } }
    }

    /// Creates the tables of these entities, as ``autoSchema(_:)`` does for their records.
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

    /// Sets how the schema is applied.
    ///
    /// ```swift
    /// schema.setOptions(SchemaOptions(logger: { print($0) }))
    /// ```
    public mutating func setOptions(_ options: SchemaOptions) {
        self.options = options
    }

    /// Names migrations and changes that this program no longer declares, so that a store that has applied them doesn't count
    /// as written by a newer version.
    ///
    /// ```swift
    /// schema.retire("2024-11-03_indexes", "rename users.mail to email")
    /// ```
    public mutating func retire(_ ids: String...) {
        retired.formUnion(ids)
    }

    /// Adds a step that inspects the store, after those that are declared already.
    mutating func addStep(_ title: String, _ run: @escaping @Sendable (WriteTransaction) throws -> Void) {
        steps.append(Step(title: title, once: nil) { tx, _ in try run(tx) })
    }

    /// Adds a step that is done once, after those that are declared already.
    mutating func addStep(
        _ title: String, once: String,
        _ run: @escaping @Sendable (WriteTransaction, inout AwaitedColumns) throws -> Void
    ) {
        if steps.contains(where: { $0.once == once }) {
            mistake =
                mistake
                ?? StorageError(
                    .invalidArgument, "\"\(once)\" is declared twice.",
                    remedy:
                        "Give each migration a name of its own. A rename, drop or conversion that is to happen a second time needs one too: its parameter id:."
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
