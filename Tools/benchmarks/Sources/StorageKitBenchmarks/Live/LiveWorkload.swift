/// A live measurement, as all contenders do it: what there is, what is looked at, and what is committed meanwhile.
struct LiveWorkload: Sendable {
    /// How many people and documents there are before.
    var rows = 0
    var documents = 0
    /// One for each view.
    var questions: [LiveQuestion] = []
    var commits = 200
    /// A contender that takes longer stops there.
    var limitSeconds = 2.0
    /// How long who reads a view of people rests after each value, as one does who doesn't want all of them.
    var restSeconds = 0.0
    /// Commits that aren't measured, before the others.
    var warmUps = 3
    /// The commit with this number, from 0 on.
    let commit: @Sendable (Int) -> LiveCommit

    /// The same commits with nobody looking.
    var unwatched: LiveWorkload {
        var workload = self
        workload.questions = []
        return workload
    }
}

/// The people of live benchmarks. What makes the one at a place different from all others is its place.
enum LivePeople {
    static let cityCount = 100
    private static let generator = PersonGenerator(seed: 42)

    static func person(_ place: Int) -> Person {
        let digits = digits(place)
        return Person(
            id: key(place), name: "Name-\(digits) of a person", email: email(place), age: Int64(place),
            city: city(place % cityCount), active: false, score: Double(place), updatedAt: 1_700_000_000_000_000)
    }

    /// The person with an age that nobody else has: what the commit of this number leaves behind.
    static func person(_ place: Int, after number: Int) -> Person {
        var person = person(place)
        person.age = Int64(10_000_000 + number)
        return person
    }

    static func key(_ place: Int) -> String { generator.key(place) }
    static func email(_ place: Int) -> String { "person.\(digits(place))@example.com" }
    static func namePrefix(_ place: Int) -> String { "Name-\(digits(place))" }
    static func namePart(_ place: Int) -> String { "-\(digits(place)) " }
    static func city(_ number: Int) -> String { "city-\(number)" }

    private static func digits(_ place: Int) -> String { String(String(10_000_000 + place).dropFirst()) }

    /// Calls `body` with the first so many, in batches.
    static func forEachBatch(_ count: Int, _ body: ([Person]) async throws -> Void) async throws {
        for first in stride(from: 0, to: count, by: 10_000) {
            try await body((first..<min(first + 10_000, count)).map { person($0) })
        }
    }
}
