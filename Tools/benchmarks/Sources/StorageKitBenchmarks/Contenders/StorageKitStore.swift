import Foundation
import StorageKit

/// The same row as an entity of StorageKit.
@StorageEntity(table: "people")
struct StoredPerson {
    var id: String
    var name: String
    var email: String
    var age: Int64
    var city: String
    var active: Bool
    var score: Double
}

extension StoredPerson {
    init(_ person: Person) {
        self.init(
            id: person.id, name: person.name, email: person.email, age: person.age, city: person.city,
            active: person.active, score: person.score)
    }
}

/// An open store with the table of people.
struct StorageKitStore: Sendable {
    let storage: Storage

    /// - Parameter extend: What the schema has beside the table.
    init(
        _ path: String, configuration: StorageConfig = StorageConfig(),
        extend: (inout Schema) -> Void = { _ in }
    ) throws {
        storage = try StorageKit.start(at: URL(fileURLWithPath: path), config: configuration) { schema in
            schema.autoSchema(StoredPersonRecord.self)
            extend(&schema)
        }.facade
    }

    func close() async throws { try await storage.close() }
}
