/// Something that a view shows and shouldn't.
struct Fault: Sendable, CustomStringConvertible {
    /// In what way it is wrong, in the same words whatever the rows are.
    let kind: String
    let text: String

    init(_ kind: String, _ text: String) { (self.kind, self.text) = (kind, text) }

    /// An error, whose message may quote statements.
    init(thrown error: any Error) {
        let parts = "\(error)".split(separator: "`", omittingEmptySubsequences: false).enumerated()
        kind = "error: " + parts.filter { $0.offset % 2 == 0 }.map(\.element).joined()
        text = "\(error)"
    }

    var description: String { "\(kind): \(text)" }
}
