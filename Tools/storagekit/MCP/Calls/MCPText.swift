/// Escapes stored text for a reader that can't see hidden characters.
enum MCPText {
    /// Returns JSON with invisible and control characters escaped. Its meaning is the same.
    ///
    /// Such characters only occur inside strings.
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

    /// Control and format characters, and others that aren't seen: escapes of terminals, changes of direction, zero width, variation selectors,
    /// tags.
    private static func isHidden(_ scalar: Unicode.Scalar) -> Bool {
        guard scalar.value > 0x7e else { return false }
        if scalar.isInvisible { return true }
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .unassigned: return true
        default: return false
        }
    }
}
