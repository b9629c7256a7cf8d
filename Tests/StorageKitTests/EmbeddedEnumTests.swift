import StorageKit
import StorageTesting
import Testing

/// Properties of embedded values of which no two values can be guessed.
@Suite struct EmbeddedEnumTests {
    enum Size: Int, Codable { case small = 7, large }
    enum Colour: String, Codable { case red, green }
    enum Only: String, Codable, CaseIterable { case one }
    enum Single: String, Codable { case single }
    struct Look: Embeddable, Equatable {
        var size: Size?
        var other: Size?
        var colour: Colour?
        var only: Only?
        var always: Only
        var single: Single?
        var name: String
        var shade: Colour { .red }
    }
    struct Twins: Embeddable, Equatable { var left: Colour?; var right: Colour?; var name: String }
    @StorageEntity struct Thing: Equatable {
        var id: Int
        @StorageEmbedded var look: Look
        @StorageEmbedded var twins: Twins?
    }

    private func storage() async throws -> Storage {
        let storage = try StorageKit.inMemory { $0.autoSchema(ThingRecord.self) }.facade
        let look = Look(
            size: .large, other: .small, colour: .green, only: .one, always: .one, single: .single, name: "a")
        let blank = Look(size: nil, other: nil, colour: nil, only: nil, always: .one, single: nil, name: "b")
        try await storage.save([Thing(id: 1, look: look, twins: nil), Thing(id: 2, look: blank, twins: nil)])
        return storage
    }

    @Test("An optional enum can be queried")
    func optionalEnums() async throws {
        let query = try await storage().query(Thing.self)
        #expect(try await query.where { $0.look.size == .large }.fetch().map(\.id) == [1])
        #expect(try await query.where { $0.look.other == .large }.count() == 0)
        #expect(try await query.where { $0.look.other == .small }.count() == 1)
        #expect(try await query.where { $0.look.colour == .green }.count() == 1)
        #expect(try await query.where { $0.look.colour == nil }.fetch().map(\.id) == [2])
        #expect(try await query.where { $0.look.only == .one }.count() == 1)
        #expect(try await query.where { $0.look.always == .one }.count() == 2)
        #expect(try await query.where { $0.look.single == .single }.count() == 1)
    }

    @Test("A property that can't be determined is refused with the reason")
    func undetermined() async throws {
        let query = try await storage().query(Thing.self)
        for wrong in [query.where { $0.twins.left == .red }, query.where { $0.look.shade == .red }] {
            let error = await #expect(throws: StorageError.self) { try await wrong.count() }
            #expect(error?.code == .invalidName)
            #expect(error?.remedy.contains("CaseIterable") == true)
        }
        #expect(try await query.where(StorageColumn<String>("twins_left") == "red").count() == 0)
    }
}
