/// Two tables that count their rowids by AUTOINCREMENT: a test leaves rows in the first, and none in the second.
package enum CountedTables {
    package static let names = ["counted", "emptied"]
    package static let sql = """
        CREATE TABLE counted(id INTEGER PRIMARY KEY AUTOINCREMENT, text TEXT);
        CREATE TABLE emptied(id INTEGER PRIMARY KEY AUTOINCREMENT, text TEXT);
        """
    package static let deletion = "DELETE FROM counted WHERE id > 1; DELETE FROM emptied"

    /// Statements that insert rows with these texts into both.
    package static func insertions(of texts: String...) -> [String] {
        names.map { name in "INSERT INTO \(name)(text) VALUES \(texts.map { "('\($0)')" }.joined(separator: ", "))" }
    }
}
