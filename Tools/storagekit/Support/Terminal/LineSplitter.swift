/// Splits bytes that arrive in pieces into lines, with bounded memory: of a line that is too long only the length is kept.
struct LineSplitter {
    enum Line {
        case text([UInt8])
        case tooLong(bytes: Int)
    }

    private let limit: Int
    private var line: [UInt8] = []
    /// The length of the line so far.
    private var length = 0

    /// - Parameter limit: The maximum length in bytes, without the line break.
    init(limit: Int) { self.limit = limit }

    /// Whether the current line is already too long.
    var isTooLong: Bool { length > limit }

    /// Calls `body` with the lines that end in these bytes.
    mutating func feed(_ bytes: some Collection<UInt8>, _ body: (Line) throws -> Void) rethrows {
        for piece in bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).enumerated() {
            if piece.offset > 0 { try body(take()) }
            length += piece.element.count
            if length <= limit { line += piece.element } else { line.removeAll() }
        }
    }

    /// Returns the text after the last line break; nil if there is none.
    mutating func rest() -> Line? { length == 0 ? nil : take() }

    private mutating func take() -> Line {
        defer { (line, length) = ([], 0) }
        return isTooLong ? .tooLong(bytes: length) : .text(line)
    }
}
