/// Something that a view shows and shouldn't.
struct Fault: Sendable, CustomStringConvertible {
    /// In what way it is wrong, in the same words whatever the rows are.
    let kind: String
    let text: String

    init(_ kind: String, _ text: String) { (self.kind, self.text) = (kind, text) }

    var description: String { "\(kind): \(text)" }
}
