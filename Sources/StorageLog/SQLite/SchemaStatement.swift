internal import StorageCore
package import StorageRecords

/// The statement that creates one object of a schema, as `sqlite_schema` or the catalog has it.
///
/// An enemy can have written the file. SQLite ignores what follows the first statement of a text in `sqlite_schema`, and doesn't read
/// the catalog's at all, so running such a text as it is could run anything. It is run only as a value of this type:
///
/// - It is one statement: only semicolons, white space and comments follow it.
/// - It creates an object of an expected kind, by the name that is expected if there is one.
/// - It has the form in which SQLite keeps it: `TEMP`, `IF NOT EXISTS`, a database before the name, and a table made `AS SELECT` aren't in it.
package struct SchemaStatement: Sendable, Equatable {
    package enum Kind: String, CaseIterable, Sendable {
        case table, index, view, trigger
        case virtualTable = "virtual table"
    }

    package let sql: String
    package let kind: Kind
    /// The name that the object gets, without quotes.
    package let name: String

    /// - Parameter kinds: What the text may create.
    /// - Throws: `corrupt` that names the object.
    package init(_ sql: String, creating kinds: Kind..., named name: String) throws {
        let title = "\(kinds.first?.rawValue ?? "object") \"\(name)\""
        try self.init(sql, creating: kinds, title: title)
        guard self.name.folded == name.folded else { throw StorageError.notOneStatement(title) }
    }

    /// The text of a row of `sqlite_schema`.
    ///
    /// - Throws: `corrupt` that names the object.
    package init(_ sql: String, type: String, named name: String) throws {
        switch type {
        case "index": try self.init(sql, creating: .index, named: name)
        case "view": try self.init(sql, creating: .view, named: name)
        case "trigger": try self.init(sql, creating: .trigger, named: name)
        default: try self.init(sql, creating: .table, .virtualTable, named: name)
        }
    }

    /// An index or a trigger of a table, by any name.
    ///
    /// - Throws: `corrupt` that names the table.
    package init(_ sql: String, attachedTo table: String) throws {
        try self.init(sql, creating: [.index, .trigger], title: "index or trigger of \"\(table)\"")
    }

    /// The statement that created a table; nil if the database has no such table.
    ///
    /// - Parameter schema: The name of the database among those of the connection.
    /// - Throws: `corrupt` that names the table.
    package static func table(
        _ name: String, of database: Connection, in schema: String = "main"
    ) throws -> SchemaStatement? {
        let select = try PreparedStatement(
            database, "SELECT sql FROM \(schema).sqlite_schema WHERE type = 'table' AND name = ?1 COLLATE NOCASE")
        select.bind(text: name, at: 1)
        return try select.step() ? SchemaStatement(select.string(0), creating: .table, named: name) : nil
    }

    private init(_ sql: String, creating kinds: [Kind], title: String) throws {
        // SQLite reads a text up to its first NUL.
        guard !sql.utf8.contains(0), let tokens = try? SQLToken.tokens(of: sql, skippingComments: true),
            let (kind, name) = Self.created(by: tokens), kinds.contains(kind), Self.isSingle(tokens, kind)
        else { throw StorageError.notOneStatement(title) }
        (self.sql, self.kind, self.name) = (sql, kind, name)
    }

    /// The statement for a script, with its semicolon: see ``SQLToken/script(_:)``.
    package var script: String {
        get throws { try SQLToken.script(sql) }
    }

    package func run(on database: Connection) throws { try PreparedStatement(database, sql).execute() }
}

// MARK: The form

extension SchemaStatement.Kind {
    fileprivate var beginnings: [[String]] {
        switch self {
        case .table: [["CREATE", "TABLE"]]
        case .index: [["CREATE", "INDEX"], ["CREATE", "UNIQUE", "INDEX"]]
        case .view: [["CREATE", "VIEW"]]
        case .trigger: [["CREATE", "TRIGGER"]]
        case .virtualTable: [["CREATE", "VIRTUAL", "TABLE"]]
        }
    }

    /// Whether a token can follow the name.
    fileprivate func allows(_ token: SQLToken) -> Bool {
        switch self {
        case .table: token == .symbol("(")
        case .index: token.isWord("ON")
        case .view: token == .symbol("(") || token.isWord("AS")
        case .trigger: ["BEFORE", "AFTER", "INSTEAD", "DELETE", "INSERT", "UPDATE"].contains(where: token.isWord)
        case .virtualTable: token.isWord("USING")
        }
    }
}

extension SchemaStatement {
    /// What the first statement creates, and its name; nil if it doesn't have the form in which SQLite keeps it.
    private static func created(by tokens: [SQLToken]) -> (Kind, String)? {
        for kind in Kind.allCases {
            for words in kind.beginnings where zip(tokens, words).allSatisfy({ $0.isWord($1) }) {
                let rest = tokens.dropFirst(words.count)
                if let name = rest.first?.identifier, let next = rest.dropFirst().first, kind.allows(next) {
                    return (kind, name)
                }
            }
        }
        return nil
    }

    /// Whether only semicolons follow the first statement. A trigger's ends with the first `END` after a semicolon: no statement in
    /// a trigger begins with that word.
    private static func isSingle(_ tokens: [SQLToken], _ kind: Kind) -> Bool {
        let semicolon = SQLToken.symbol(";")
        guard kind == .trigger else { return tokens.drop { $0 != semicolon }.allSatisfy { $0 == semicolon } }
        let end = tokens.indices.dropFirst().first { tokens[$0].isWord("END") && tokens[$0 - 1] == semicolon }
        return end.map { tokens[($0 + 1)...].allSatisfy { $0 == semicolon } } ?? false
    }
}

extension SQLToken {
    /// The text as a name; SQLite accepts a text in single quotes as one.
    fileprivate var identifier: String? {
        switch self {
        case .word(let name), .name(let name), .text(let name): name
        case .number, .symbol: nil
        }
    }
}

extension StorageError {
    fileprivate static func notOneStatement(_ object: String) -> StorageError {
        StorageError(
            .corrupt, "The SQL that the file has for the \(object) isn't one statement that creates it, and isn't run.",
            remedy:
                "A program has changed it, and may have changed more. Restore a backup, or drop it and create it again with SQLite."
        )
    }
}
