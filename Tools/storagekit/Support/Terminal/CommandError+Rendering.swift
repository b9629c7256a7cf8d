extension CommandError: CustomStringConvertible {
    /// Returns up to three lines for standard error, each with a line break.
    func rendered(style: Style) -> String {
        var lines = style.removed("error:") + " " + TerminalText.visible(what) + "\n"
        if !why.isEmpty { lines += style.dim("  why:") + " " + TerminalText.visible(why) + "\n" }
        if !next.isEmpty { lines += style.dim(" next:") + " " + TerminalText.visible(next) + "\n" }
        return lines
    }

    var description: String { rendered(style: .plain) }
}
