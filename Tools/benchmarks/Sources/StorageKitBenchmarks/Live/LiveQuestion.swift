/// What a view of a live benchmark shows, in words that every contender understands.
enum LiveQuestion: Sendable {
    /// The person with this place among all, found by its address, which has an index.
    case email(Int)
    /// The person with this place, found by the key.
    case key(Int)
    /// Some people, each found by its address.
    case emails([Int])
    /// People whose ages lie in a range; there is an index.
    case ages(ClosedRange<Int64>)
    /// The person with this place, found by how the name begins.
    case namePrefix(Int)
    /// The person with this place, found by a part of the name.
    case namePart(Int)
    /// The people of a city; there is an index.
    case city(Int)
    /// The first people by their key.
    case firstByKey(Int)
    /// The people with the highest scores, which have no index.
    case highestScores(Int)
    /// A list that scrolls, by the key, of which so many pages of 50 are loaded.
    case scrolled(pages: Int)
    /// Count, sum, mean, least and greatest score of all.
    case totals
    /// Count, sum and greatest score of each city.
    case totalsByCity
    /// The best documents that a full-text search finds.
    case search(LiveSearch)
}

/// What is searched for while documents change.
struct LiveSearch: Sendable {
    /// As a person types it.
    let text: String
    /// The same for FTS5.
    let expression: String
    static let limit = 20
}
