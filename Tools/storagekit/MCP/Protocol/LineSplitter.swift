/// Cuts bytes that come in pieces into lines, with bounded memory: of a line that is too long only its length is kept.
struct LineSplitter {
    enum Line {
        case text([UInt8])
        case tooLong(bytes: Int)
    }

    private let limit: Int
    private var line: [UInt8] = []
    /// The length of the line so far.
    private var length = 0

    /// - Parameter limit: In bytes, without the line break.
    init(limit: Int) { self.limit = limit }

    /// Whether the line that has begun is too long already.
    var isTooLong: Bool { length > limit }

    /// Hands over the lines that end in these bytes.
    mutating func feed(_ bytes: some Collection<UInt8>, _ body: (Line) throws -> Void) rethrows {
        for piece in bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).enumerated() {
            if piece.offset > 0 { try body(take()) }
            length += piece.element.count
            if length <= limit { line += piece.element } else { line.removeAll() }
        }
    }

    /// What stands behind the last line break; nil where nothing does.
    mutating func rest() -> Line? { length == 0 ? nil : take() }

    private mutating func take() -> Line {
        defer { (line, length) = ([], 0) }
        return isTooLong ? .tooLong(bytes: length) : .text(line)
    }
}
