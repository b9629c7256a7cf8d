/// A line that is being typed.
struct Prompt: Sendable {
    enum Purpose: Equatable, Sendable {
        case search, goTo, filter
        /// The reason of the planned changes.
        case reason
        /// Whether to make the planned changes, with that reason.
        case confirmation(reason: String)
    }

    let purpose: Purpose
    let label: String
    private(set) var text: [Character]
    /// The number of characters before the cursor.
    private(set) var cursor: Int

    /// The maximum number of characters.
    private static let limit = 1_000

    init(_ purpose: Purpose, _ label: String, text: String = "") {
        self.purpose = purpose
        self.label = label
        self.text = Array(text)
        cursor = self.text.count
    }

    var line: String { String(text) }

    mutating func handle(_ key: Key) {
        switch key {
        case .character(let character):
            guard text.count < Self.limit else { return }
            text.insert(character, at: cursor)
            cursor += 1
        case .backspace, .control("h"): if cursor > 0 { text.remove(at: cursor - 1); cursor -= 1 }
        case .delete, .control("d"): if cursor < text.count { text.remove(at: cursor) }
        case .left, .control("b"): cursor = max(cursor - 1, 0)
        case .right, .control("f"): cursor = min(cursor + 1, text.count)
        case .home, .control("a"): cursor = 0
        case .end, .control("e"): cursor = text.count
        case .control("u"): text.removeFirst(cursor); cursor = 0
        case .control("k"): text.removeLast(text.count - cursor)
        case .control("w"):
            let before = text[..<cursor].reversed().drop { $0 == " " }.drop { $0 != " " }
            text.removeSubrange(before.count..<cursor)
            cursor = before.count
        default: break
        }
    }
}
