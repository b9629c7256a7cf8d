internal import StorageCore

/// A name as an SQL identifier: in double quotes, with quotes inside doubled.
package func quoted(_ name: String) -> String {
    "\"" + name.doublingQuotes + "\""
}

/// The condition that each of these columns equals a bound value, also if both are NULL.
package func condition(binding columns: some Sequence<String>) -> String {
    columns.map { "\(quoted($0)) IS ?" }.joined(separator: " AND ")
}
