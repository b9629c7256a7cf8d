/// How a schema is applied.
public struct SchemaOptions: Sendable {
    /// Whether a store that doesn't fit the schema is erased, with its history, and recreated. Everything in it is lost: use
    /// this in development only.
    public var eraseDatabaseOnSchemaChange: Bool
    /// Called with one line of text for each change.
    public var logger: (@Sendable (String) -> Void)?

    /// Creates options; without arguments, the defaults.
    public init(eraseDatabaseOnSchemaChange: Bool = false, logger: (@Sendable (String) -> Void)? = nil) {
        self.eraseDatabaseOnSchemaChange = eraseDatabaseOnSchemaChange
        self.logger = logger
    }
}

/// The name for ``SchemaOptions`` in a schema's closure: `schema.setOptions(Options(logger: { print($0) }))`.
public typealias Options = SchemaOptions

/// Another name of ``Schema``.
public typealias AppMigrations = Schema
