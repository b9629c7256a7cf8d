import StorageKit

/// How tags and notes are shown with the commit or event that they point to.
enum TagText {
    /// The texts of tags and notes, a line each.
    static func lines(_ tags: [StorageTag], _ notes: [StorageNote], indent: Int) -> [StyledLine] {
        let texts =
            tags.compactMap { tag in tag.note.map { ("tag:\(tag.name)", $0) } } + notes.map { ("note", $0.text) }
        return texts.map { name, text in
            var line = StyledLine(String(repeating: " ", count: indent))
            line.add(name, .changed)
            line.add("  " + text)
            return line
        }
    }

    /// Tags and notes as fields of a commit or event.
    static func fields(_ tags: [StorageTag], _ notes: [StorageNote]) -> [(String, String)] {
        tags.map { tag in ("tag", tag.note.map { "\(tag.name)  \($0)" } ?? tag.name) }
            + notes.map { ("note", $0.text) }
    }
}
