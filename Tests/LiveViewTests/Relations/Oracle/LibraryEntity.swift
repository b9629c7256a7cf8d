import StorageKit
import TestSupport

/// An entity of the library that random queries ask for.
protocol LibraryEntity: RegisteredEntity, Hashable {
    static func rows(in library: LibraryRows) -> [Self]
    /// What rows are grouped by.
    var section: String { get }
    static func condition(_ generator: inout SplitMix64) -> RandomCondition<Self>
    static func order(_ generator: inout SplitMix64) -> RandomOrder<Self>
    /// Whether a row comes before another in the order of the key.
    static func precedes(_ first: Self, _ second: Self) -> Bool
    /// Adds a condition on related rows.
    static func relate(_ query: inout RandomQuery<Self>, _ generator: inout SplitMix64, depth: Int)
    /// Adds related rows to what is read.
    static func include(_ query: inout RandomQuery<Self>, _ generator: inout SplitMix64, depth: Int)
}

extension Publisher: LibraryEntity {
    static func rows(in library: LibraryRows) -> [Publisher] { library.publishers }
    var section: String { city }
    static func precedes(_ first: Publisher, _ second: Publisher) -> Bool { first.id < second.id }

    static func condition(_ generator: inout SplitMix64) -> RandomCondition<Publisher> {
        let limit = generator.below(5)
        return generator.chance(50)
            ? RandomCondition("city == Kyiv") {
                $0.city == "Kyiv"
            } _: {
                $0.city == "Kyiv"
            }
            : RandomCondition("id < \(limit)") {
                $0.id < limit
            } _: {
                $0.id < limit
            }
    }

    static func order(_ generator: inout SplitMix64) -> RandomOrder<Publisher> {
        RandomOrder("city", &generator, \.city) { $0.orderBy(\.city, $1) }
    }

    static func relate(_ query: inout RandomQuery<Publisher>, _ generator: inout SplitMix64, depth: Int) {
        query.relate("novels", &generator, depth: depth) { (owner, novel: Novel) in
            novel.publisherId == owner.id
        } apply: {
            $1 ? $0.hasNo(\.novels, matching: $2) : $0.has(\.novels, matching: $2)
        }
    }

    static func include(_ query: inout RandomQuery<Publisher>, _ generator: inout SplitMix64, depth: Int) {
        query.include("novels", &generator, depth: depth) { (owner, novel: Novel) in
            novel.publisherId == owner.id
        } apply: { query, other in
            query.include(\.novels) { _ in other }
        } put: {
            $1.novels = $0
        }
    }
}

extension Novelist: LibraryEntity {
    static func rows(in library: LibraryRows) -> [Novelist] { library.novelists }
    var section: String { country }
    static func precedes(_ first: Novelist, _ second: Novelist) -> Bool { first.id < second.id }

    static func condition(_ generator: inout SplitMix64) -> RandomCondition<Novelist> {
        let id = "n\(generator.below(10))"
        return switch generator.below(4) {
        case 0:
            RandomCondition("country == UA") {
                $0.country == "UA"
            } _: {
                $0.country == "UA"
            }
        case 1:
            RandomCondition("country < PL") {
                $0.country < "PL"
            } _: {
                $0.country < "PL"
            }
        case 2:
            RandomCondition("mentorId == nil") {
                $0.mentorId == nil
            } _: {
                $0.mentorId == nil
            }
        default:
            RandomCondition("id >= \(id)") {
                $0.id >= id
            } _: {
                $0.id >= id
            }
        }
    }

    static func order(_ generator: inout SplitMix64) -> RandomOrder<Novelist> {
        generator.chance(50)
            ? RandomOrder("country", &generator, \.country) { $0.orderBy(\.country, $1) }
            : RandomOrder("mentorId", &generator, \.mentorId) { $0.orderBy(\.mentorId, $1) }
    }

    static func relate(_ query: inout RandomQuery<Novelist>, _ generator: inout SplitMix64, depth: Int) {
        switch generator.below(3) {
        case 0:
            query.relate("novels", &generator, depth: depth) { (owner, novel: Novel) in
                novel.novelistId == owner.id
            } apply: {
                $1 ? $0.hasNo(\.novels, matching: $2) : $0.has(\.novels, matching: $2)
            }
        case 1:
            query.relate("pupils", &generator, depth: depth) { (owner, pupil: Novelist) in
                pupil.mentorId == owner.id
            } apply: {
                $1 ? $0.hasNo(\.pupils, matching: $2) : $0.has(\.pupils, matching: $2)
            }
        default:
            let country = generator.pick(["UA", "PL", "IE"])
            let isNegated = generator.chance(40)
            query.relate("mentor in \(country)", isNegated: isNegated) {
                isNegated
                    ? $0.hasNo(Novelist.self, through: \.mentorId) { $0.country == country }
                    : $0.has(Novelist.self, through: \.mentorId) { $0.country == country }
            } isTrue: { row, library in
                library.novelists.contains { $0.id == row.mentorId && $0.country == country } != isNegated
            }
        }
    }

    static func include(_ query: inout RandomQuery<Novelist>, _ generator: inout SplitMix64, depth: Int) {
        if generator.chance(60) {
            query.include("novels", &generator, depth: depth) { (owner, novel: Novel) in
                novel.novelistId == owner.id
            } apply: { query, other in
                query.include(\.novels) { _ in other }
            } put: {
                $1.novels = $0
            }
        } else {
            query.include("pupils", &generator, depth: depth) { (owner, pupil: Novelist) in
                pupil.mentorId == owner.id
            } apply: { query, other in
                query.include(\.pupils, by: \.mentorId) { _ in other }
            } put: {
                $1.pupils = $0
            }
        }
    }
}

extension Novel: LibraryEntity {
    static func rows(in library: LibraryRows) -> [Novel] { library.novels }
    var section: String { "\(decade)" }
    static func precedes(_ first: Novel, _ second: Novel) -> Bool { first.id < second.id }

    static func condition(_ generator: inout SplitMix64) -> RandomCondition<Novel> {
        let year = 1990 + generator.below(30)
        let novelist = "n\(generator.below(6))"
        return switch generator.below(4) {
        case 0:
            RandomCondition("year >= \(year)") {
                $0.year >= year
            } _: {
                $0.year >= year
            }
        case 1:
            RandomCondition("year < \(year)") {
                $0.year < year
            } _: {
                $0.year < year
            }
        case 2:
            RandomCondition("publisherId == nil") {
                $0.publisherId == nil
            } _: {
                $0.publisherId == nil
            }
        default:
            RandomCondition("novelistId == \(novelist)") {
                $0.novelistId == novelist
            } _: {
                $0.novelistId == novelist
            }
        }
    }

    static func order(_ generator: inout SplitMix64) -> RandomOrder<Novel> {
        switch generator.below(3) {
        case 0: RandomOrder("year", &generator, \.year) { $0.orderBy(\.year, $1) }
        case 1: RandomOrder("novelistId", &generator, \.novelistId) { $0.orderBy(\.novelistId, $1) }
        default: RandomOrder("publisherId", &generator, \.publisherId) { $0.orderBy(\.publisherId, $1) }
        }
    }

    static func relate(_ query: inout RandomQuery<Novel>, _ generator: inout SplitMix64, depth: Int) {
        switch generator.below(3) {
        case 0:
            query.relate("chapters", &generator, depth: depth) { (owner, chapter: Chapter) in
                chapter.novelId == owner.id
            } apply: {
                $1 ? $0.hasNo(\.chapters, matching: $2) : $0.has(\.chapters, matching: $2)
            }
        case 1:
            query.relate("novelist", &generator, depth: depth) { (row, novelist: Novelist) in
                row.novelistId == novelist.id
            } apply: {
                $1 ? $0.hasNo(\.novelist, matching: $2) : $0.has(\.novelist, matching: $2)
            }
        default:
            query.relate("publisher", &generator, depth: depth) { (row, publisher: Publisher) in
                row.publisherId == publisher.id
            } apply: {
                $1 ? $0.hasNo(\.publisher, matching: $2) : $0.has(\.publisher, matching: $2)
            }
        }
    }

    static func include(_ query: inout RandomQuery<Novel>, _ generator: inout SplitMix64, depth: Int) {
        switch generator.below(3) {
        case 0:
            query.include("chapters", &generator, depth: depth) { (owner, chapter: Chapter) in
                chapter.novelId == owner.id
            } apply: { query, other in
                query.include(\.chapters) { _ in other }
            } put: {
                $1.chapters = $0
            }
        case 1:
            query.include("novelist", &generator, depth: depth) { (row, novelist: Novelist) in
                row.novelistId == novelist.id
            } apply: { query, other in
                query.include(\.novelist) { _ in other }
            } put: {
                $1.novelist = $0.first
            }
        default:
            query.include("publisher", &generator, depth: depth) { (row, publisher: Publisher) in
                row.publisherId == publisher.id
            } apply: { query, other in
                query.include(\.publisher, through: \.publisherId) { _ in other }
            } put: {
                $1.publisher = $0.first
            }
        }
    }
}

extension Chapter: LibraryEntity {
    static func rows(in library: LibraryRows) -> [Chapter] { library.chapters }
    var section: String { "\(pages / 25)" }
    static func precedes(_ first: Chapter, _ second: Chapter) -> Bool { first.id < second.id }

    static func condition(_ generator: inout SplitMix64) -> RandomCondition<Chapter> {
        let pages = generator.below(100)
        return RandomCondition("pages > \(pages)") {
            $0.pages > pages
        } _: {
            $0.pages > pages
        }
    }

    static func order(_ generator: inout SplitMix64) -> RandomOrder<Chapter> {
        generator.chance(50)
            ? RandomOrder("pages", &generator, \.pages) { $0.orderBy(\.pages, $1) }
            : RandomOrder("novelId", &generator, \.novelId) { $0.orderBy(\.novelId, $1) }
    }

    static func relate(_ query: inout RandomQuery<Chapter>, _ generator: inout SplitMix64, depth: Int) {
        let year = 1990 + generator.below(30)
        let isNegated = generator.chance(40)
        query.relate("novel before \(year)", isNegated: isNegated) {
            isNegated
                ? $0.hasNo(Novel.self, through: \.novelId) { $0.year < year }
                : $0.has(Novel.self, through: \.novelId) { $0.year < year }
        } isTrue: { row, library in
            library.novels.contains { $0.id == row.novelId && $0.year < year } != isNegated
        }
    }

    static func include(_ query: inout RandomQuery<Chapter>, _ generator: inout SplitMix64, depth: Int) {}
}
