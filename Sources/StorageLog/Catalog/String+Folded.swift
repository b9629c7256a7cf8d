internal import StorageCore

extension String {
    /// A name in the form by which SQLite compares names.
    package var folded: ExactText { ExactText(lowercasedASCII) }
}
