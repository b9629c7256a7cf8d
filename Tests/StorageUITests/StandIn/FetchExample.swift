import StorageSQLiteClient
import SwiftUI

// What users of an SQLite client write in a view.

struct Totals: FetchKeyRequest {
    struct Value: Sendable { var users = 0 }

    func fetch(_ db: SQLiteTransaction) throws -> Value {
        Value(users: try db.fetchOne("SELECT count(*) FROM users", as: Int.self) ?? 0)
    }
}

struct User: Decodable, Identifiable, Sendable {
    let id: Int
    let name: String
}

struct UserList: View {
    @FetchAll("SELECT * FROM users ORDER BY name") var users: [User]
    @FetchOne("SELECT count(*) FROM users") var count = 0
    @Fetch(Totals()) var totals = Totals.Value()

    var body: some View {
        VStack {
            List(users) { Text($0.name) }
            Text("\(count) of \(totals.users)")
            if $users.isLoading { ProgressView() }
            if let error = $users.loadError { Text("\(error)") }
        }
    }
}

/// What SwiftUI keeps and updates, it finds by this protocol.
func isUpdatedBySwiftUI<Property: DynamicProperty>(_ property: Property) {}

func properties(_ list: FetchAll<User>, _ one: FetchOne<Int>, _ several: Fetch<Totals.Value>) {
    isUpdatedBySwiftUI(list)
    isUpdatedBySwiftUI(one)
    isUpdatedBySwiftUI(several)
}
