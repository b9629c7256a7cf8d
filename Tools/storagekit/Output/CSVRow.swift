import StorageCore

/// A row of a table in CSV: RFC 4180, but with single line feeds.
enum CSVRow {
    /// The row without the end of its line.
    ///
    /// - Parameter cells: nil for NULL, which is written as nothing; an empty text is written as `""`.
    static func text(_ cells: [String?]) -> String { cells.map(quoted).joined(separator: ",") }

    private static func quoted(_ cell: String?) -> String {
        guard let cell else { return "" }
        let needsQuotes =
            cell.isEmpty
            || cell.utf8.contains { byte in
                byte == UInt8(ascii: ",") || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\n")
                    || byte == UInt8(ascii: "\r")
            }
        guard needsQuotes else { return cell }
        return "\"" + cell.doublingQuotes + "\""
    }
}
