import StorageLog
import Testing

/// The texts of tables are read as SQLite reads them.
@Suite struct TableSQLTests {
    private static let table = #"""
        CREATE TABLE "t ("/* , a */( -- first
            id INTEGER PRIMARY KEY, /* , b TEXT */ "b,""" TEXT DEFAULT ')', [c d] DECIMAL(4, 2) CHECK ("b,""" <> ', x') -- , x
            , `E``` REFERENCES other(x, y) /* end */ -- last
            , é, CHECK (id > 0), UNIQUE (id, é)) STRICT
        """#

    @Test(
        "A column's definition",
        arguments: [
            ("ID", "id INTEGER PRIMARY KEY"), ("b,\"", #""b,""" TEXT DEFAULT ')'"#),
            ("c d", #"[c d] DECIMAL(4, 2) CHECK ("b,""" <> ', x')"#), ("e`", "`E``` REFERENCES other(x, y)"),
            ("é", "é"),
        ])
    func definition(name: String, definition: String) {
        #expect(TableSQL.definition(ofColumn: name, in: Self.table) == definition)
    }

    @Test("No column's definition", arguments: ["x", "b", "a", "d", "y", "other", ""])
    func noDefinition(name: String) { #expect(TableSQL.definition(ofColumn: name, in: Self.table) == nil) }

    @Test(
        "Texts that don't end",
        arguments: ["CREATE TABLE t", "CREATE TABLE t(a", "CREATE TABLE t('a, b)", "CREATE TABLE t(/* a)"])
    func unfinished(sql: String) { #expect(TableSQL.definition(ofColumn: "a", in: sql) == nil) }
}
