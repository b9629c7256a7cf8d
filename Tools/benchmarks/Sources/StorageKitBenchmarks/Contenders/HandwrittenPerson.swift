import GRDB

/// The same row with its columns encoded and decoded by hand, by position: GRDB's fastest record.
struct HandwrittenPerson: FetchableRecord, PersistableRecord, Sendable {
    static let databaseTableName = "person"

    let person: Person

    init(_ person: Person) {
        self.person = person
    }

    init(row: Row) {
        person = Person(
            id: row[0], name: row[1], email: row[2], age: row[3], city: row[4], active: row[5], score: row[6],
            updatedAt: row[7])
    }

    func encode(to container: inout PersistenceContainer) {
        container["id"] = person.id
        container["name"] = person.name
        container["email"] = person.email
        container["age"] = person.age
        container["city"] = person.city
        container["active"] = person.active
        container["score"] = person.score
        container["updatedAt"] = person.updatedAt
    }
}

extension HandwrittenPerson: LivePerson {
    var id: String { person.id }
    var age: Int64 { person.age }
    var active: Bool { person.active }
    var score: Double { person.score }
}
