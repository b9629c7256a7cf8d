internal import StorageCore

/// A name as it stands in SQL text: in double quotes, quotes inside doubled.
package func quoted(_ name: String) -> String {
    "\"" + name.doublingQuotes + "\""
}

/// The condition that each of these columns is what will be bound, also where that is NULL.
package func condition(binding columns: some Sequence<String>) -> String {
    columns.map { "\(quoted($0)) IS ?" }.joined(separator: " AND ")
}
