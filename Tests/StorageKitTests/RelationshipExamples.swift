import Foundation
import StorageKit

/// The code of the guide "Relationships".
enum RelationshipExamples {
    @StorageEntity
    struct Director {
        var id: String
        var country: String
        @StorageHasMany(foreignKey: "directorId") var films: [Film] = []
    }

    @StorageEntity
    struct Film {
        var id: Int
        var title: String
        var year: Int
        var directorId: String?
        @StorageBelongsTo var director: Director?
    }

    private struct Career: Decodable, FetchableRecord, Identifiable, Equatable {
        var id: String
        var first: Int
        var last: Int
    }

    static func run(_ url: URL) async throws -> String {
        let context = try StorageKit.start(at: url) { schema in
            schema.autoSchema(DirectorRecord.self, FilmRecord.self)
            schema.migration("films by director") { db in
                try db.create(index: "films_directorId", on: "films", columns: ["directorId"])
            }
        }
        let storage = context.facade
        try await storage.save([Director(id: "varda", country: "FR"), Director(id: "kurosawa", country: "JP")])
        try await storage.save([
            Film(id: 1, title: "Cléo from 5 to 7", year: 1962, directorId: "varda"),
            Film(id: 2, title: "Ikiru", year: 1952, directorId: "kurosawa"),
        ])
        return try await include(storage) + has(storage) + aggregates(storage) + live(storage) + sql(storage)
            + scope(storage)
    }

    private static func include(_ storage: Storage) async throws -> String {
        let directors = try await storage.query(Director.self).orderBy(\.id)
            .include(\.films) { $0.where { $0.year >= 1960 }.orderBy(\.year, .descending).limit(3) }
            .fetch()
        let films = try await storage.query(Film.self).include(\.director) { $0.include(\.films) }.fetch()
        return "\(directors.map(\.films.count)) \(films.compactMap(\.director?.films.count))\n"
    }

    private static func has(_ storage: Storage) async throws -> String {
        let recent = try await storage.query(Director.self).has(\.films) { $0.year >= 2000 }.fetch()
        let idle = try await storage.query(Director.self).hasNo(\.films).fetch()
        let french = try await storage.query(Film.self).has(\.director) { $0.country == "FR" }.count()
        return "\(recent.count) \(idle.count) \(french)\n"
    }

    private static func aggregates(_ storage: Storage) async throws -> String {
        var printed = ""
        func print(_ counts: [Int]) { printed += "\(counts)\n" }
        let ordered = storage.query(Director.self).orderBy(\.id)
        let careers = try await ordered.fetch(aggregating: \.films, .count, .max(\.year))
        print(careers.map(\.value.0))
        return printed
    }

    private static func live(_ storage: Storage) async throws -> String {
        var printed = ""
        func print(_ counts: [Int]) { printed += "\(counts)\n" }
        let live = storage.query(Director.self).has(\.films).include(\.films) { $0.orderBy(\.year).limit(3) }.live()
        try await storage.save(Film(id: 3, title: "Ran", year: 1985, directorId: "kurosawa"))
        for try await directors in live.snapshots {
            print(directors.map(\.films.count))
            break
        }
        return try await printed + differences(storage, live) + explain(live)
    }

    private static func explain(_ live: LiveList<Director>) async throws -> String {
        var printed = ""
        func print(_ explanation: SubscriptionExplanation) { printed += "\(explanation)\n" }
        if let explanation = try await live.explain() { print(explanation) }
        return printed
    }

    private static func differences(_ storage: Storage, _ live: LiveList<Director>) async throws -> String {
        var printed = ""
        func animate(_ changes: [ListChange<Film>], section: Int) { printed += "\(section): \(changes.count)\n" }
        var directors: [Director] = []
        for try await difference in live.differences {
            let films = difference.included(\.films, in: directors)
            difference.apply(to: &directors)
            for part in films { animate(part.difference.changes, section: part.owner) }
            if !films.isEmpty { break }
            try await storage.save(Film(id: 4, title: "Vagabond", year: 1985, directorId: "varda"))
        }
        return printed
    }

    private static func sql(_ storage: Storage) async throws -> String {
        var shown = ""
        func show(_ rows: [Career]) { shown += "\(rows.map(\.last))\n" }
        let spans = storage.live { db in
            try Career.fetchAll(
                db,
                sql: """
                    SELECT directors.id, min(year) AS first, max(year) AS last
                    FROM directors JOIN films ON directorId = directors.id GROUP BY directors.id
                    """)
        }
        for try await rows in spans.snapshots {
            show(rows)
            break
        }
        return shown
    }

    private static func scope(_ storage: Storage) async throws -> String {
        let country = "FR"
        let visible = storage.scoped { scope in
            scope.allow(Director.self) { $0.country == country }
            scope.allow(Film.self)
        }
        let directors = try await visible.query(Director.self).include(\.films).fetch()
        var sent = 0
        func send(_ events: [StorageEvent]) { sent += events.count }
        for try await change in visible.changes(since: .position(0)) {
            send(change.events)
            break
        }
        return "\(directors.count) \(sent)\n"
    }
}
