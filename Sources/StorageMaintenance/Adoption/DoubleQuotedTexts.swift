internal import CSQLite
internal import StorageCore
internal import StorageLog

/// The texts that a database's schema writes in double quotes. Where no column has the name, SQLite reads it as text, but not for
/// a store's connections: a view or trigger would fail there, and every `ALTER TABLE` because of an index or a table's `CHECK`.
///
/// The schema is made in memory, without rows, and each object is compiled in both ways. One that can't be compiled in either,
/// such as a view that calls a function of the program's, isn't reported.
///
/// Not `Sendable`: it belongs to the thread that makes it.
struct DoubleQuotedTexts {
    private struct Object {
        let type: String
        let name: String
        let table: String
        let statement: SchemaStatement
        var title: String { "the \(type) \"\(name)\"" }
    }

    /// What has such a text, and the text.
    private var found: [(object: String, text: String)] = []
    private let memory: Connection

    /// - Throws: `corrupt` for an object whose text creates something else, or has more than one statement.
    init(_ database: Connection) throws {
        let objects = try Self.objects(of: database)
        memory = try Connection.inMemory()
        let memory = memory
        defer { memory.close() }
        for object in objects where object.type == "table" || object.type == "index" {
            check(object) { try object.statement.run(on: memory) }
        }
        // SQLite compiles a view when it is read, and a trigger when its table is written to. Views may read later ones.
        for view in objects where view.type == "view" { try? view.statement.run(on: memory) }
        for view in objects where view.type == "view" {
            check(view) { _ = try PreparedStatement(memory, "SELECT * FROM \(quoted(view.name))") }
        }
        for trigger in objects where trigger.type == "trigger" {
            let table = quoted(trigger.table)
            for write in ["INSERT INTO \(table) DEFAULT VALUES", "DELETE FROM \(table)", nil] {
                check(trigger) {
                    // Alone, so that an error is its own.
                    try trigger.statement.run(on: memory)
                    defer { try? memory.execute("DROP TRIGGER \(quoted(trigger.name))") }
                    _ = try PreparedStatement(memory, write ?? SchemaUses.update(of: trigger.table, memory))
                }
            }
        }
    }

    /// - Throws: `schema-mismatch` that names every object with such a text.
    func check() throws {
        guard let first = found.first else { return }
        let single = "'\(first.text.replacing("'", with: "''"))'"
        let list = found.map { "\"\($0.text)\" in \($0.object)" }.joined(separator: ", ")
        throw StorageError(
            .schemaMismatch,
            "The database has texts in double quotes, which a store reads as names of columns: \(list).",
            remedy: "Create what has them again with single quotes, such as \(single), then adopt.")
    }

    private static func objects(of database: Connection) throws -> [Object] {
        let select = try PreparedStatement(
            database,
            """
            SELECT type, name, tbl_name, sql FROM sqlite_schema
            WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY type = 'index', rowid
            """)
        var objects: [Object] = []
        while try select.step() {
            let (type, name) = (select.string(0), select.string(1))
            objects.append(
                Object(
                    type: type, name: name, table: select.string(2),
                    statement: try SchemaStatement(select.string(3), type: type, named: name)))
        }
        return objects
    }

    private mutating func check(_ object: Object, _ compile: () throws -> Void) {
        guard found.last?.object != object.title else { return }
        storage_set_double_quoted_texts(memory.handle, 0)
        guard let problem = Self.problem(compile) else { return }
        storage_set_double_quoted_texts(memory.handle, 1)
        guard Self.problem(compile) == nil, let text = Self.text(in: object.statement.sql, named: problem) else {
            return
        }
        found.append((object.title, text))
    }

    private static func problem(_ compile: () throws -> Void) -> String? {
        do {
            try compile()
            return nil
        } catch {
            return (error as? StorageError)?.message ?? "\(error)"
        }
    }

    /// The quoted name that SQLite's message names; nil if the object only reads a view that has it.
    private static func text(in sql: String, named problem: String) -> String? {
        guard let tokens = try? SQLToken.tokens(of: sql, skippingComments: true) else { return nil }
        let names = tokens.compactMap { token in
            if case .name(let name) = token { name } else { nil }
        }
        // Newer versions of SQLite quote it.
        let named = names.filter { problem.contains("column: \($0)") || problem.contains("column: \"\($0)\"") }
        return named.max { $0.utf8.count < $1.utf8.count }
    }
}
