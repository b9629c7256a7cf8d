import StorageKit

/// All rows of the library: the tables of an oracle.
struct LibraryRows: Sendable {
    var publishers: [Publisher]
    var novelists: [Novelist]
    var novels: [Novel]
    var chapters: [Chapter]

    /// The rows of the current state.
    init(_ storage: Storage) async throws {
        self = try await storage.readTransaction { reader in
            LibraryRows(
                publishers: try reader.all(Publisher.self), novelists: try reader.all(Novelist.self),
                novels: try reader.all(Novel.self), chapters: try reader.all(Chapter.self))
        }
    }

    /// The rows of a past state.
    init(_ snapshot: StorageSnapshot) async throws {
        publishers = try await snapshot.all(Publisher.self)
        novelists = try await snapshot.all(Novelist.self)
        novels = try await snapshot.all(Novel.self)
        chapters = try await snapshot.all(Chapter.self)
    }

    private init(publishers: [Publisher], novelists: [Novelist], novels: [Novel], chapters: [Chapter]) {
        (self.publishers, self.novelists, self.novels, self.chapters) = (publishers, novelists, novels, chapters)
    }
}
