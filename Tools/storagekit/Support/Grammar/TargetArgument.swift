/// The target of a command: a table `users`, a row `users/42`, or a cell `users/42#name`.
///
/// The first `/` ends the table and the last `#` after it begins the column, so ids may contain `/`. If a name contains these characters, write `%2F`
/// and `%23`, and `%25` for a percent sign before one of these codes. Any other `%` is literal. A key may also be meant as it is written, so that is
/// kept for the look-up of the row, see `HistoryReader.row`.
struct TargetArgument: Sendable {
    let table: String
    let id: String?
    let column: String?
    /// The id before its codes were decoded; nil if it wasn't parsed.
    private(set) var writtenID: String?
    /// The same of the id and the column together, which may be a key with a `#`; nil if there is no column.
    private var writtenCell: String?

    static let examples =
        "Targets look like users, users/42, users/42#name; write %2F for / in a table, %23 for # in a table or id."

    init(table: String, id: String? = nil, column: String? = nil) {
        self.table = table
        self.id = id
        self.column = column
    }

    init(_ text: String) throws(GrammarError) {
        guard let slash = text.utf8.firstIndex(of: UInt8(ascii: "/")) else {
            guard !text.utf8.contains(UInt8(ascii: "#")) else {
                throw GrammarError(problem: "'\(text)' names a column without a row.", examples: Self.examples)
            }
            try self.init(text, table: text[...], id: nil, column: nil)
            return
        }
        let rest = text[text.utf8.index(after: slash)...]
        guard let hash = rest.utf8.lastIndex(of: UInt8(ascii: "#")) else {
            try self.init(text, table: text[..<slash], id: rest, column: nil)
            return
        }
        try self.init(text, table: text[..<slash], id: rest[..<hash], column: rest[rest.utf8.index(after: hash)...])
        writtenCell = String(rest)
    }

    /// The row whose key is the id with the column; nil if there is no column.
    var whole: TargetArgument? {
        guard let writtenCell else { return nil }
        var row = TargetArgument(table: table, id: Self.unescaped(writtenCell[...]))
        row.writtenID = writtenCell
        return row
    }

    private init(_ text: String, table: Substring, id: Substring?, column: Substring?) throws(GrammarError) {
        // An id may be empty, because a text in a key may be.
        for (part, name) in [(table, "table"), (column, "column")] where part?.isEmpty == true {
            throw GrammarError(problem: "The \(name) of '\(text)' is empty.", examples: Self.examples)
        }
        self.table = Self.unescaped(table)
        self.id = id.map(Self.unescaped)
        self.column = column.map(Self.unescaped)
        writtenID = id.map { String($0) }
    }

    private static let escapes: [(code: String, byte: UInt8)] = [
        ("%2F", UInt8(ascii: "/")), ("%23", UInt8(ascii: "#")), ("%25", UInt8(ascii: "%")),
    ]

    /// One pass over bytes: the result of an escape isn't decoded again, and can't combine with the letters around it.
    private static func unescaped(_ text: Substring) -> String {
        var rest = Array(text.utf8)[...]
        var output: [UInt8] = []
        while let byte = rest.first {
            let next = rest.prefix(3).map { $0 == UInt8(ascii: "f") ? UInt8(ascii: "F") : $0 }
            if let escape = escapes.first(where: { Array($0.code.utf8) == next }) {
                output.append(escape.byte)
                rest = rest.dropFirst(3)
            } else {
                output.append(byte)
                rest = rest.dropFirst()
            }
        }
        return String(decoding: output, as: UTF8.self)
    }

    private static func escaped(_ text: String, _ characters: String) -> String {
        var output: [UInt8] = []
        for byte in text.utf8 {
            if let escape = escapes.first(where: { $0.byte == byte }), characters.utf8.contains(byte) {
                output.append(contentsOf: escape.code.utf8)
            } else {
                output.append(byte)
            }
        }
        return String(decoding: output, as: UTF8.self)
    }
}

extension TargetArgument: Equatable {
    /// Ignores how the target was written.
    static func == (one: TargetArgument, other: TargetArgument) -> Bool {
        one.table == other.table && one.id == other.id && one.column == other.column
    }
}

extension TargetArgument: CustomStringConvertible {
    /// The id as it can be typed again.
    var shownID: String? { id.map { Self.escaped($0, "%#") } }

    /// The target as it can be typed again.
    var description: String {
        var text = Self.escaped(table, "%/#")
        if let shownID { text += "/" + shownID }
        if let column { text += "#" + Self.escaped(column, "%#") }
        return text
    }
}
