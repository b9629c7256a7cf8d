/// The work that depends on how much of the schema has changed, as plain numbers that tests compare.
struct SchemaWork: Equatable {
    /// Rows of `sqlite_schema` that weren't known.
    var rows = 0
    /// Tables whose columns were read.
    var tables = 0
    /// Tables that were defined for capture.
    var definitions = 0

    static func += (left: inout SchemaWork, right: SchemaWork) {
        left.rows += right.rows
        left.tables += right.tables
        left.definitions += right.definitions
    }
}
