#if SQLITE_ENGINE_SQLITENIO
    /// A text of statements, and how many of them have run. A statement that was busy is run again; those before it
    /// aren't.
    ///
    /// Sound as `@unchecked Sendable`: it belongs to one call, whose jobs run one after another.
    final class SQLScript: @unchecked Sendable {
        let text: String
        private let bytes: [CChar]
        private var start = 0
        /// The size of the next statement in bytes.
        private var size = 0
        private(set) var statementCount = 0
        /// Whether the next statement is the only one.
        private(set) var isWhole = false
        /// The number of rows that the last statement has changed.
        var changes = 0

        init(_ text: String) {
            self.text = text
            bytes = Array(text.utf8CString)
        }

        var utf8Count: Int { bytes.count - 1 }
        var isAtStart: Bool { start == 0 }
        var isAtEnd: Bool { start >= utf8Count }

        func withRemainder<Result>(_ body: (UnsafePointer<CChar>, _ size: Int) -> Result) -> Result {
            // Includes the NUL, so that SQLite needn't copy the text. Sound to force: there is at least the NUL.
            bytes.withUnsafeBufferPointer { body($0.baseAddress! + start, $0.count - start) }
        }

        /// Whether only spaces, semicolons and comments follow.
        func isBlank(after count: Int) -> Bool {
            var rest = bytes[(start + count)..<utf8Count]
            while let first = rest.first {
                switch (first, rest.dropFirst().first) {
                case (0x20, _), (0x09...0x0D, _), (0x3B, _): rest.removeFirst()
                case (0x2D, 0x2D): rest = rest.drop { $0 != 0x0A }
                case (0x2F, 0x2A): rest = Self.behindComment(rest)
                default: return false
                }
            }
            return true
        }

        /// An unterminated comment ends with the text.
        private static func behindComment(_ text: ArraySlice<CChar>) -> ArraySlice<CChar> {
            let inside = text.dropFirst(2)
            guard let end = zip(inside.indices, zip(inside, inside.dropFirst())).first(where: { $0.1 == (0x2A, 0x2F) })
            else { return [] }
            return text[(end.0 + 2)...]
        }

        /// Skips something that isn't a statement.
        func skip(_ count: Int) { start += max(count, 1) }

        func comeTo(count: Int, isWhole: Bool) {
            size = max(count, 1)
            self.isWhole = isWhole
        }

        /// Restarts from the first statement.
        func rewind() { (start, size, statementCount) = (0, 0, 0) }

        /// Moves on to the next statement.
        func advance() {
            start += size
            statementCount += 1
        }
    }
#endif
