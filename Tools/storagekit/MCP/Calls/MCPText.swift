/// Stored text made fit for a reader that takes it for what it seems to be.
enum MCPText {
    /// JSON with characters that control how text is shown, or that nobody sees, as escapes. It means the same.
    ///
    /// Outside of strings JSON has none of them.
    static func escaped(_ json: String) -> String {
        guard json.unicodeScalars.contains(where: isHidden) else { return json }
        var output = ""
        for scalar in json.unicodeScalars {
            guard isHidden(scalar) else {
                output.unicodeScalars.append(scalar)
                continue
            }
            for unit in String(scalar).utf16 {
                let digits = String(unit, radix: 16)
                output += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            }
        }
        return output
    }

    /// Control and format characters: escapes of terminals, changes of direction, zero width, tags.
    private static func isHidden(_ scalar: Unicode.Scalar) -> Bool {
        guard scalar.value > 0x7e else { return false }
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .unassigned: return true
        default: return false
        }
    }
}
