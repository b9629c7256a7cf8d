import StorageKit
import Testing

@StorageEntity
struct Person {
    var id: String
    var name: String
    var age: Int?
    var score: Double
}

struct SaveTests {
    private func open() throws -> Storage {
        try StorageKit.inMemory { $0.autoSchema(PersonRecord.self) }.facade
    }

    @Test func aSavedEntityIsReadBack() async throws {
        let storage = try open()
        let anna = Person(id: "1", name: "Anna", age: 31, score: 1.5)
        let receipt = try await storage.save(anna)
        #expect(receipt.eventCount == 1)
        #expect(try await storage.get(Person.self, id: "1") == anna)
        #expect(try await storage.count(Person.self) == 1)
        #expect(try await storage.exists(Person.self, id: "1"))
    }

    @Test func savingWhatIsThereWritesNothing() async throws {
        let storage = try open()
        let anna = Person(id: "1", name: "Anna", age: nil, score: -0.0)
        try await storage.save(anna)
        let head = storage.head
        let again = try await storage.save(anna)
        #expect(again.commit == nil)
        #expect(storage.head == head)
        let zero = try await storage.save(Person(id: "1", name: "Anna", age: nil, score: 0.0))
        #expect(zero.commit != nil, "0.0 and -0.0 are two values")
    }
}
