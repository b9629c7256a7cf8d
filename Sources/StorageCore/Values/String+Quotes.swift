extension String {
    /// The text with each quote doubled, as SQL and FTS5 want it inside of quotes. By scalars, as they read it: a quote with which
    /// a mark combines is another character to Swift, and would end the text.
    package var doublingQuotes: String {
        var scalars = String.UnicodeScalarView()
        for scalar in unicodeScalars {
            scalars.append(scalar)
            if scalar == "\"" { scalars.append(scalar) }
        }
        return String(scalars)
    }
}
