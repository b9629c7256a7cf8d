extension String {
    /// Replaces each occurrence of a scalar. By scalars, as SQL, shells and file formats read text: for Swift, a quote followed
    /// by a combining mark is another character, which would still end a text in quotes.
    package func replacing(scalar replaced: Unicode.Scalar, with replacement: String) -> String {
        var scalars = String.UnicodeScalarView()
        for scalar in unicodeScalars {
            if scalar == replaced { scalars += replacement.unicodeScalars } else { scalars.append(scalar) }
        }
        return String(scalars)
    }

    /// The text with each quotation mark doubled, as required inside quotation marks by SQL, FTS5 and CSV.
    package var doublingQuotes: String { replacing(scalar: "\"", with: "\"\"") }

    /// The text as an SQL literal.
    package var quotedAsText: String { "'\(replacing(scalar: "'", with: "''"))'" }

    /// The text as a word of a POSIX shell: in quotes if it would otherwise have another meaning.
    package var quotedAsShellWord: String {
        let isPlain = !isEmpty && allSatisfy { $0.isLetter || $0.isNumber || "/._-+,@:=%".contains($0) }
        return isPlain ? self : "'\(replacing(scalar: "'", with: "'\\''"))'"
    }
}

extension [String] {
    /// The texts as the last words of a command: a `--` before the first that begins with a hyphen keeps it from being parsed
    /// as an option.
    package var asOperands: [String] {
        let end = firstIndex { $0.hasPrefix("-") } ?? endIndex
        return self[..<end] + (end == endIndex ? [] : ["--"]) + self[end...]
    }

    /// The same as words of a POSIX shell.
    package var quotedAsOperands: String { asOperands.map(\.quotedAsShellWord).joined(separator: " ") }
}
