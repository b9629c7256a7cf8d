extension String {
    /// The text folded as SQLite folds names: only A to Z.
    package var lowercasedASCII: String {
        // Most names are in lower case already, and a copy costs more than the search.
        guard utf8.contains(where: { (0x41...0x5A).contains($0) }) else { return self }
        return String(decoding: utf8.map { (0x41...0x5A).contains($0) ? $0 + 32 : $0 }, as: UTF8.self)
    }
}
