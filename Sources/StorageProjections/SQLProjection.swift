public import GRDB
internal import StorageCore
internal import StorageHistory
internal import StorageLog

/// A projection whose rules are written in SQL.
///
/// ```sql
/// CREATE TABLE order_totals(customer TEXT PRIMARY KEY, cents INTEGER NOT NULL);
///
/// -- on insert, update of orders
/// INSERT INTO order_totals VALUES (:new_customer, :new_cents)
///   ON CONFLICT DO UPDATE SET cents = cents + excluded.cents;
///
/// -- on update, delete of orders
/// UPDATE order_totals SET cents = cents - :old_cents WHERE customer = :old_customer;
/// ```
///
/// The text before the first rule creates the tables. A rule is a comment line, `-- on insert, update, delete of
/// TABLE`, and the statements after it, which are run in order for each such event. They read `:old_x` and `:new_x`,
/// the values of the columns before and after, NULL if the row doesn't exist, and `:op`, `:position`, `:commit`,
/// `:time`, `:actor` and `:reason`. Rows are whole: an update also has the columns that it didn't change.
///
/// It is declared like any other projection, `schema.addProjection(try SQLProjection(name: "order_totals", sql: text),
/// mode: .inline)`, and `storagekit replay` and `storagekit compare-replay` can run it without the program.
///
/// Isolation: `Sendable`; a value.
public struct SQLProjection: Projection {
    /// The projection's name.
    public let name: String
    /// The version of its text.
    public let version: Int
    /// The tables of its rules.
    public let entities: [String]
    let preparation: String
    let rules: [SQLRule]

    /// Creates a projection from its SQL.
    ///
    /// - Parameters:
    ///   - version: Increase it whenever the text changes.
    ///   - sql: Tables, then rules.
    /// - Throws: ``StorageError`` with `invalid-argument` for a text that isn't complete SQL, or has no rule.
    public init(name: String, version: Int = 1, sql: String) throws {
        self.name = name
        self.version = version
        (preparation, rules) = try SQLRule.read(sql)
        var entities: [String] = []
        for rule in rules where !entities.contains(rule.table) { entities.append(rule.table) }
        self.entities = entities
    }

    /// Creates its tables.
    ///
    /// - Throws: `DatabaseError` for a statement that SQLite refuses.
    public func prepare(_ db: GRDB.Database) throws { try db.execute(sql: preparation) }

    /// Runs the rules for a batch.
    ///
    /// - Throws: `DatabaseError` for a statement that SQLite refuses; errors of reading the log.
    public func apply(_ batch: ProjectionBatch, _ db: GRDB.Database) throws {
        let statements = try rules.map { try $0.statements.map { try SQLRule.Prepared(db.cachedStatement(sql: $0)) } }
        var wanted: [String: Set<String>] = [:]
        for (rule, prepared) in zip(rules, statements) {
            wanted[rule.table, default: []].formUnion(prepared.flatMap(\.columns))
        }
        for (event, change) in try batch.steps({ wanted[$0.name] }) {
            for (rule, prepared) in zip(rules, statements)
            where rule.operations.contains(event.operation) && rule.table.utf8.elementsEqual(change.table.utf8) {
                for statement in prepared { try statement.run(for: event, changing: change) }
            }
        }
    }
}
