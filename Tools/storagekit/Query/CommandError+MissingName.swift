import Foundation
import StorageKit

extension CommandError {
    /// The error for a statement that names a missing table or column; nil if SQLite's error is another one.
    ///
    /// - Parameters:
    ///   - sql: The statement.
    ///   - error: SQLite's error.
    ///   - catalog: The tables and columns that it may name.
    ///   - tables: Further tables that it may name.
    init?(missingIn sql: String, _ error: StorageError, catalog: Catalog, tables: [String] = []) {
        if let name = error.missingTable {
            self.init(missingTable: name, among: catalog.live.map(\.stored) + tables)
            return
        }
        guard let name = error.missingColumn else { return nil }
        let words = Set(sql.lowercased().split { !$0.isLetter && !$0.isNumber && $0 != "_" }.map(String.init))
        let isNamed = { (table: String) in
            // A table whose name isn't a word is in quotes.
            words.contains(table.lowercased()) || sql.contains("\"\(table)\"")
        }
        let named = catalog.live.filter { entity in
            ["", "history_", "changes_"].contains { isNamed($0 + entity.stored) }
        }
        guard !named.isEmpty else { return nil }
        let columns = named.flatMap(\.live).map(\.stored)
        let column = name.split(separator: ".").last.map(String.init) ?? name
        let similar = Suggestions.nearest(to: column, among: columns)
        // Tables of history have further columns.
        let why =
            tables.contains(where: isNamed)
            ? "" : "The columns of \(Suggestions.list(named.map(\.stored))) are \(Suggestions.list(columns))."
        self.init(
            .usage, "There is no column \"\(name)\".", why: why,
            next: similar.isEmpty ? "Type: storagekit schema" : "Did you mean \(similar.joined(separator: ", "))?")
    }
}

extension StorageError {
    /// The column that SQLite hasn't found.
    fileprivate var missingColumn: String? {
        guard code == .database else { return nil }
        for text in ["no such column: ", "has no column named "] {
            guard let range = message.range(of: text, options: .backwards) else { continue }
            let name = message[range.upperBound...]
            return String(name.hasSuffix(".") ? name.dropLast() : name)
        }
        return nil
    }
}

extension CommandError {
    /// The error for a condition of `--where`. The user has typed the condition, but not the statement around it.
    init(condition: String, of entity: CatalogEntity, _ error: StorageError, catalog: Catalog) {
        self =
            CommandError(missingIn: entity.stored, error, catalog: catalog)
            ?? CommandError(
                .usage, "--where isn't a condition in SQL: \(condition)",
                why: error.message.components(separatedBy: "`: ").last ?? "",
                next: "Write it as after WHERE: --where \"points > 100\"")
    }
}
