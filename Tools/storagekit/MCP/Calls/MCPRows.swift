/// The rows of an answer, up to the limits.
struct MCPRows {
    private let skipped: Int
    private let limit: Int
    private let byteLimit: Int
    private var seen = 0
    private var bytes = 0
    private(set) var rows: [String] = []
    /// Whether there are more.
    private(set) var isCut = false
    /// The length of the next row if it is too long to be sent at all.
    private(set) var tooLongRow: Int?

    init(of question: MCPQuestion, bytes: Int) {
        skipped = question.skipped
        limit = question.limit
        byteLimit = bytes
    }

    /// - Returns: Whether to continue with the next row.
    mutating func add(_ line: LineSplitter.Line) -> Bool {
        guard !isCut else { return false }
        seen += 1
        guard seen > skipped else { return true }
        switch line {
        case .text(let row):
            let row = MCPText.escaped(String(decoding: row, as: UTF8.self))
            if rows.count == limit || bytes + row.utf8.count > byteLimit {
                isCut = true
                if rows.isEmpty { tooLongRow = row.utf8.count }
                return false
            }
            bytes += row.utf8.count + 1
            rows.append(row)
        case .tooLong(let length):
            isCut = true
            if rows.isEmpty { tooLongRow = length }
            return false
        }
        return true
    }

    /// Marks the answer as truncated for another reason.
    mutating func cut() { isCut = true }
}
