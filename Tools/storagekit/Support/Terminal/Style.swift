/// Colours by role. They are only an aid: signs and words must carry the meaning without them.
///
/// The codes are written here and not by a library with one switch for the whole process, because standard output and standard error can differ.
struct Style: Sendable {
    enum Role: Sendable {
        case plain, added, removed, changed, dim, heading

        /// Parameters of the terminal's SGR command (ECMA-48 section 8.3.117).
        var code: String? {
            switch self {
            case .plain: nil
            case .added: "32"
            case .removed: "31"
            case .changed: "33"
            case .dim: "2"
            case .heading: "1"
            }
        }
    }

    static let plain = Style(isColored: false)
    static let colored = Style(isColored: true)

    let isColored: Bool
    /// The links of points; nil if they aren't links.
    var links: PointLinks?

    func apply(_ role: Role, to text: String) -> String {
        guard isColored, !text.isEmpty, let code = role.code else { return text }
        return "\u{1b}[\(code)m\(text)\u{1b}[0m"
    }

    /// Returns the text as a link, if it names a point.
    ///
    /// OSC 8, the hyperlinks of terminals: <https://gist.github.com/egmontkob/eb114294efbcd5adb1944c9f3cb5feda>
    func linked(_ text: String, to point: PointArgument?) -> String {
        guard let links, !text.isEmpty, let url = point.flatMap(links.url) else { return text }
        return "\u{1b}]8;;\(url)\u{1b}\\\(text)\u{1b}]8;;\u{1b}\\"
    }

    func added(_ text: String) -> String { apply(.added, to: text) }
    func removed(_ text: String) -> String { apply(.removed, to: text) }
    func changed(_ text: String) -> String { apply(.changed, to: text) }
    func dim(_ text: String) -> String { apply(.dim, to: text) }
    func heading(_ text: String) -> String { apply(.heading, to: text) }
}
