import StorageEntities
import StorageKit
import StorageTesting
import Testing

/// The reference's chapters on relationships: marked properties are no columns and are loaded by their key.
@Suite struct ReferenceRelationshipTests {
    @StorageEntity
    struct Band {
        var id: String
        var name: String
        @StorageHasMany(foreignKey: "bandId") var songs: [Song]
        @StorageHasMany(foreignKey: "writtenBy") var reviews: [Review] = []
    }

    @StorageEntity
    struct Song {
        var id: String
        var title: String
        var bandId: String
        var releasedAt: Date
        @StorageBelongsTo var band: Band?
    }

    @StorageEntity
    struct Review {
        var id: Int
        var text: String
        var writtenBy: String
        @StorageBelongsTo(foreignKey: "writtenBy") var critic: Band?
    }

    private func open() async throws -> Storage {
        let storage = try StorageKit.inMemory { schema in
            schema.autoSchema(BandRecord.self, SongRecord.self, ReviewRecord.self)
            schema.migration("2026-01-15_song_band_index") { db in
                try db.create(index: "idx_songs_bandId", on: "songs", columns: ["bandId"])
            }
        }.facade
        try await storage.save([Band(id: "b1", name: "Reeds", songs: []), Band(id: "b2", name: "Brass", songs: [])])
        try await storage.save(
            [("s1", "Dawn", "b1", 30.0), ("s2", "Noon", "b1", 10), ("s3", "Dusk", "b1", 20), ("s4", "Night", "b2", 5)]
                .map { Song(id: $0, title: $1, bandId: $2, releasedAt: Date(timeIntervalSinceReferenceDate: $3)) })
        try await storage.save(Review(id: 1, text: "fine", writtenBy: "b2"))
        return storage
    }

    @Test("Marked properties aren't stored")
    func relationshipsAreNotStored() async throws {
        let storage = try await open()
        let columns = try await storage.read { db in
            try ["bands", "songs", "reviews"].map { try db.columns(in: $0).map(\.name) }
        }
        #expect(columns[0] == ["id", "name", "updatedAt", "_position"])
        #expect(columns[1] == ["id", "title", "bandId", "releasedAt", "updatedAt", "_position"])
        #expect(columns[2] == ["id", "text", "writtenBy", "updatedAt", "_position"])
        var band = try #require(try await storage.get(Band.self, id: "b1"))
        #expect(band.songs.isEmpty)
        // What such a property holds in memory is nothing that could be saved.
        band.songs = try await storage.all(Song.self)
        #expect(try await storage.save(band).commit == nil)
        #expect(try await storage.get(Song.self, id: "s1")?.band == nil)
    }

    @Test("A parent is loaded by the key of its child")
    func loadingParents() async throws {
        let storage = try await open()
        let song = try #require(try await storage.get(Song.self, id: "s4"))
        #expect(try await storage.loadParent(Band.self, id: song.bandId)?.name == "Brass")
        let review = try #require(try await storage.get(Review.self, id: 1))
        #expect(try await storage.loadParent(Band.self, id: review.writtenBy)?.name == "Brass")
        #expect(try await storage.loadParent(Band.self, id: "nobody") == nil)
    }

    @Test("Children are loaded by their column in any order")
    func loadingChildren() async throws {
        let storage = try await open()
        let band = try #require(try await storage.get(Band.self, id: "b1"))
        #expect(
            try await storage.loadChildren(Song.self, where: "bandId", equals: band.id).map(\.id) == ["s1", "s2", "s3"])
        let latest = try await storage.loadChildren(
            Song.self, where: "bandId", equals: band.id, orderBy: "releasedAt", ascending: false)
        #expect(latest.map(\.title) == ["Dawn", "Dusk", "Noon"])
        let titles = try await storage.loadChildren(Song.self, where: "bandId", equals: band.id, orderBy: "title")
        #expect(titles.map(\.title) == ["Dawn", "Dusk", "Noon"])
        let backwards = try await storage.loadChildren(Song.self, where: "bandId", equals: band.id, ascending: false)
        #expect(backwards.map(\.id) == ["s3", "s2", "s1"])
        #expect(try await storage.loadChildren(Song.self, where: "bandId", equals: "x").isEmpty)
        let critic = try #require(try await storage.get(Band.self, id: "b2"))
        #expect(try await storage.loadChildren(of: critic, \.reviews).map(\.id) == [1])
        // Both directions lead to the same rows.
        #expect(try await storage.loadChildren(of: band, \.songs, orderBy: "title") == titles)
    }

    @Test("An index on the key serves loading")
    func indexForLoading() async throws {
        let storage = try await open()
        let plan = try await storage.query(Song.self).where { $0.bandId == "b1" }.explain().plan
        #expect(plan.contains { $0.contains("idx_songs_bandId") }, "\(plan)")
    }
}
