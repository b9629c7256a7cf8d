import StorageCore
import Testing

/// What an error about an unknown name says of the known ones.
struct ExistingNamesTests {
    @Test(
        "Known names are listed",
        arguments: [
            ([], "There are none."), (["posts"], "Known: posts."), (["posts", "users"], "Known: posts, users."),
        ])
    func known(names: [String], sentence: String) {
        #expect(StorageError.existing(names) == sentence)
    }

    @Test("Where there are none, a sentence of the caller can say so")
    func none() {
        #expect(StorageError.existing([], none: "The store has none.") == "The store has none.")
        #expect(StorageError.existing(["posts"], none: "The store has none.") == "Known: posts.")
    }
}
