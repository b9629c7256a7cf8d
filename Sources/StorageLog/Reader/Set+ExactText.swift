extension Set<String> {
    /// Whether the set has a text with the same bytes. For Swift, the two spellings of é are equal; SQLite has two names there.
    package func containsExactly(_ text: String) -> Bool {
        guard let index = firstIndex(of: text) else { return false }
        return self[index].utf8.elementsEqual(text.utf8)
    }
}
