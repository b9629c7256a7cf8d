import StorageKit
import StorageTesting
import Testing

/// Updates of parts of an optional embedded value: rows without a value keep it nil, and no row becomes unreadable.
@Suite struct EmbeddedUpdateTests {
    enum Kind: String, Codable, CaseIterable { case house, flat }
    struct Address: Embeddable, Equatable {
        var street: String
        var kind: Kind
        var note: String?
    }
    struct Range: Embeddable, Equatable { var low: Int; var high: Int }
    struct Name: Embeddable, Equatable { var text: String }
    @StorageEntity struct Dweller: Equatable {
        var id: Int
        var age: Int = 0
        @StorageEmbedded var home: Address?
        @StorageEmbedded var range: Range?
        @StorageEmbedded var nick: Name?
    }

    private static let none = Dweller(id: 1, home: nil, range: nil, nick: nil)
    private static let some = Dweller(
        id: 2, home: Address(street: "s", kind: .flat, note: nil), range: Range(low: 1, high: 2), nick: nil)

    private func storage() async throws -> Storage {
        let storage = try StorageKit.inMemory { $0.autoSchema(DwellerRecord.self) }.facade
        try await storage.save([Self.none, Self.some])
        return storage
    }

    @Test("A part is updated only where the value isn't nil")
    func partOfValue() async throws {
        let storage = try await storage()
        let head = storage.head
        #expect(try await storage.query(Dweller.self).updateAll { $0.home.street.set(to: "x") } == 1)
        #expect(try await storage.query(Dweller.self).updateAll { $0.home.note.set(to: "n") } == 1)
        let count = try await storage.write { try $0.query(Dweller.self).updateAll { $0.range.low.set(to: 9) } }
        #expect(count.value == 1)
        #expect(count.receipt.eventCount == 1)
        var changed = Self.some
        changed.home = Address(street: "x", kind: .flat, note: "n")
        changed.range = Range(low: 9, high: 2)
        #expect(try await storage.all(Dweller.self) == [Self.none, changed])
        #expect(storage.head == head + 3)
        #expect(try await storage.query(Dweller.self).updateAll { $0.home.street.set(to: "x") } == 0)
        #expect(try await storage.verify().isSound)
    }

    @Test("Other columns are updated in all rows")
    func partBesideColumn() async throws {
        let storage = try await storage()
        let count = try await storage.query(Dweller.self).updateAll {
            $0.age.set(to: 7)
            $0.home.street.set(to: "y")
        }
        #expect(count == 2)
        let found = try await storage.all(Dweller.self)
        #expect(found.map(\.age) == [7, 7])
        #expect(found.map(\.home) == [nil, Address(street: "y", kind: .flat, note: nil)])
    }

    @Test("Assigning every part assigns the value")
    func wholeValue() async throws {
        let storage = try await storage()
        let set = try await storage.query(Dweller.self).updateAll {
            $0.range.low.set(to: 3)
            $0.range.high.set(to: 4)
            $0.nick.text.set(to: "n")
        }
        #expect(set == 2)
        #expect(try await storage.all(Dweller.self).map(\.range) == [Range(low: 3, high: 4), Range(low: 3, high: 4)])
        #expect(try await storage.all(Dweller.self).map(\.nick) == [Name(text: "n"), Name(text: "n")])
        let cleared = try await storage.query(Dweller.self).where { $0.id == 2 }.updateAll {
            $0.range.low.set(to: nil)
            $0.range.high.set(to: nil)
        }
        #expect(cleared == 1)
        #expect(try await storage.all(Dweller.self).map(\.range) == [Range(low: 3, high: 4), nil])
    }

    @Test("A required part can't be nil on its own")
    func requiredPart() async throws {
        let storage = try await storage()
        let alone = await #expect(throws: StorageError.self) {
            try await storage.query(Dweller.self).updateAll { $0.range.low.set(to: nil) }
        }
        #expect(alone?.code == .invalidValue)
        #expect(alone?.remedy.contains("range_low, range_high") == true)
        let beside = await #expect(throws: StorageError.self) {
            try await storage.query(Dweller.self).updateAll {
                $0.range.low.set(to: nil)
                $0.range.high.set(to: 1)
            }
        }
        #expect(beside?.code == .invalidValue)
        #expect(try await storage.query(Dweller.self).updateAll { $0.home.note.set(to: nil) } == 0)
        #expect(try await storage.all(Dweller.self) == [Self.none, Self.some])
    }
}
