/// A key press.
enum Key: Hashable, Sendable {
    case character(Character)
    /// Ctrl and a letter, in lower case.
    case control(Character)
    case enter, escape, tab, backTab, backspace, delete
    case up, down, left, right, pageUp, pageDown, home, end
}
