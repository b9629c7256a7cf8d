extension String {
    /// The text with another one for each of a scalar. By scalars, as SQL, shells and formats of files read it: a quote with which a
    /// mark combines is another character to Swift, and would end a text in quotes.
    package func replacing(scalar replaced: Unicode.Scalar, with replacement: String) -> String {
        var scalars = String.UnicodeScalarView()
        for scalar in unicodeScalars {
            if scalar == replaced { scalars += replacement.unicodeScalars } else { scalars.append(scalar) }
        }
        return String(scalars)
    }

    /// The text with each quotation mark doubled, as SQL, FTS5 and CSV want it inside of quotation marks.
    package var doublingQuotes: String { replacing(scalar: "\"", with: "\"\"") }

    /// The text as a literal of SQL.
    package var quotedAsText: String { "'\(replacing(scalar: "'", with: "''"))'" }
}
