extension StorageError {
    /// Returns what an error about an unknown name says of the known ones: `There is posts.` or `There are posts, users.`
    ///
    /// - Parameter none: The sentence if there are none.
    package static func existing(_ names: [String], none: String = "There are none.") -> String {
        names.isEmpty ? none : "There \(names.count == 1 ? "is" : "are") \(names.joined(separator: ", "))."
    }
}
