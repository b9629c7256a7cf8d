import Testing

@testable import StorageKitTool

@Suite struct SuggestionsTests {
    @Test(
        "Distances are Levenshtein's",
        arguments: [
            ("", "", 0), ("a", "", 1), ("kitten", "sitting", 3), ("users", "user", 1), ("abc", "abc", 0),
            ("ab", "ba", 2),
        ]
            as [(String, String, Int)])
    func levenshteinDistance(a: String, b: String, distance: Int) {
        #expect(Suggestions.distance(a, b, most: 9) == distance)
        #expect(Suggestions.distance(b, a, most: 9) == distance)
    }

    @Test("Only near names are suggested")
    func nearNamesOnly() {
        let names = ["users", "user_roles", "orders", "USERS2", "products"]
        #expect(Suggestions.nearest(to: "user", among: names) == ["users", "USERS2"])
        #expect(Suggestions.nearest(to: "xyzzy", among: names).isEmpty)
    }
}
