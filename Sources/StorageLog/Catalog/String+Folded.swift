internal import StorageCore

extension String {
    /// A name as SQLite compares it with others.
    package var folded: ExactText { ExactText(lowercasedASCII) }
}
