extension StorageError {
    /// Returns what an error about an unknown name says of the known ones: `Known: posts, users.`
    ///
    /// - Parameter none: The sentence if there are none.
    package static func existing(_ names: [String], none: String = "There are none.") -> String {
        names.isEmpty ? none : "Known: \(names.joined(separator: ", "))."
    }
}
