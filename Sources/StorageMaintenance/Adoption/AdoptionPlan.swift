/// What adopting a database would do with its tables.
package struct AdoptionPlan: Sendable {
    package struct Table: Sendable {
        package let name: String
        package internal(set) var rows: Int64 = 0
        /// The columns of the primary key, in order.
        package internal(set) var key: [String] = []
        /// Why the table can't have a history; nil if it can.
        package internal(set) var obstacle: Obstacle?
    }

    /// What prevents a table from being adopted, and the remedy.
    package struct Obstacle: Sendable, Equatable {
        package let reason: String
        package let remedy: String
        /// Whether the table doesn't need a history: virtual tables and their shadow tables.
        package var isExpected = false
    }

    package internal(set) var tables: [Table] = []
    /// What is worth knowing of the database as a whole.
    package internal(set) var notes: [String] = []

    /// The tables whose history begins.
    package var adopted: [Table] { tables.filter { $0.obstacle == nil } }
    /// Those that stay as they are, without history.
    package var left: [Table] { tables.filter { $0.obstacle != nil } }
    package var rows: Int64 { adopted.reduce(0) { $0 + $1.rows } }
}
