internal import Foundation
package import StorageCore
package import StorageLog

/// SQLite's own check of the file.
///
/// SQLite can't check an index or a constraint that uses a collation or a function of an application that isn't registered in this
/// process, and then checks nothing at all. So the tables are checked one by one, and what couldn't be checked isn't damage.
///
/// The check of a table doesn't know the pages of others. A page that two of them have, or that the list of free pages has too, is
/// found only by a check of the whole file, which therefore comes first, without what most often needs a missing definition.
package struct FileCheck {
    /// A table of which not everything could be checked.
    package struct Unchecked: Sendable {
        package let table: String
        /// What the process lacks, such as `the function initials`.
        package let missing: String
    }

    /// SQLite's descriptions of damage.
    package private(set) var problems: [String] = []
    package private(set) var unchecked: [Unchecked] = []
    /// What the process lacks to check whether each page is used once; nil if that was checked.
    package private(set) var missingForPages: String?

    /// - Parameters:
    ///   - isQuick: Whether to leave out the content of indexes.
    ///   - limit: The most problems that SQLite lists.
    /// - Throws: `io-error` or `out-of-memory`; damage is a problem.
    package init(_ database: Connection, isQuick: Bool = false, limit: Int) throws {
        let pragma = isQuick ? "quick_check" : "integrity_check"
        do {
            problems = try Self.problems(database, "PRAGMA \(pragma)(\(limit))")
        } catch let error as StorageError {
            guard let missing = error.missingDefinition else { throw error }
            try checkPages(limit: limit, database)
            // Where pages are damaged, that says enough; values of rows don't.
            guard !problems.contains(where: { $0.hasPrefix("***") }) else { return }
            // With the table of the schema SQLite checks the list of free pages.
            let schema = missingForPages == nil ? [] : ["sqlite_schema"]
            for name in schema + (try Self.tables(database)) where problems.count < limit {
                if Self.isReadAsNumber(name) {
                    unchecked.append(Unchecked(table: name, missing: missing))
                } else {
                    try check(name, by: pragma, database)
                }
            }
        }
    }

    /// Checks every page of the file, and of the rows what needs neither the indexes nor `CHECK` constraints. An index with a missing
    /// collation keeps SQLite from this check as well, and so does a required column that a missing function generates.
    private mutating func checkPages(limit: Int, _ database: Connection) throws {
        do {
            problems = try database.with(setting: "ignore_check_constraints", true) {
                try Self.problems(database, "PRAGMA quick_check(\(limit))")
            }
        } catch let error as StorageError {
            guard let missing = error.missingDefinition else { throw error }
            missingForPages = missing
        }
    }

    private static func tables(_ database: Connection) throws -> [String] {
        let select = try PreparedStatement(
            database, "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name")
        var names: [String] = []
        while try select.step() { names.append(select.string(0)) }
        return names
    }

    /// Whether SQLite reads the argument of its check as the most problems to list, although a table has that name: it looks at the
    /// first characters only, and quotes don't matter. Such a table can only be checked together with all others.
    static func isReadAsNumber(_ table: String) -> Bool {
        let isSigned = table.utf8.first.map { "+-".utf8.contains($0) } ?? false
        let digits = table.utf8.dropFirst(isSigned ? 1 : 0).prefix { "0123456789".utf8.contains($0) }
        // A number of more than 32 bits is a name again.
        return Int64(String(decoding: digits, as: UTF8.self)).map { $0 <= 1 << 31 } ?? false
    }

    private mutating func check(_ table: String, by pragma: String, _ database: Connection) throws {
        // Without the indexes, the rows of most such tables can still be checked.
        for pragma in pragma == "quick_check" ? [pragma] : [pragma, "quick_check"] {
            do {
                let known = problems
                problems += try Self.problems(database, "PRAGMA \(pragma)(\(quoted(table)))")
                    .filter { !known.contains($0) }
                return
            } catch let error as StorageError {
                guard let missing = error.missingDefinition else { throw error }
                guard unchecked.last?.table != table else { continue }
                unchecked.append(Unchecked(table: table, missing: missing))
            }
        }
    }

    private static func problems(_ database: Connection, _ sql: String) throws -> [String] {
        let check = try PreparedStatement(database, sql)
        var problems: [String] = []
        while try check.step() {
            let message = check.string(0)
            if let error = StorageError.unreadPage(message) { throw error }
            if message != "ok" { problems.append(message) }
        }
        return problems
    }
}

extension StorageError {
    /// What the schema names and the process lacks, which only SQLite's message says: a collation, a function or a module that an
    /// application registers; nil for other errors.
    package var missingDefinition: String? {
        guard code == .database else { return nil }
        let messages = [
            ("no such collation sequence: ", "the collation"), ("unknown function: ", "the function"),
            ("no such function: ", "the function"), ("no such module: ", "the module"),
        ]
        for (words, kind) in messages {
            guard let match = message.range(of: words, options: .backwards) else { continue }
            var name = message[match.upperBound...]
            for end in [".", "()"] where name.hasSuffix(end) { name = name.dropLast(end.count) }
            return "\(kind) \(name)"
        }
        return nil
    }
}
