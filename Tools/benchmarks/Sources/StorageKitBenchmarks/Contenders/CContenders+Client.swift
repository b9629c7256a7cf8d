/// What a client of SQLite does, in C: by one connection, by many at once, and with a thread that is notified of each commit.
extension CContenders {
    static func lookUp(_ keys: [String], among people: [Person]) -> Contender {
        reader("C look-up", of: keys, among: people, open: { try CStore($0) }) { try $0.lookUp($1) }
    }

    /// - Parameter clients: How many threads look up at once, each with a connection of its own.
    static func lookUpConcurrently(_ keys: [String], clients: Int, among people: [Person]) -> Contender {
        reader("C look-up by threads", of: keys, among: people, open: { try CClients($0, count: clients) }) {
            try $0.lookUp($1)
        }
    }

    /// Commits of one row, each followed by its report to another thread.
    static func observe(_ count: Int, among people: [Person]) -> Contender {
        Contender(
            "C hooks and a thread",
            prepare: { workspace in
                let path = workspace.path("c.sqlite")
                try create(path, people)
                return (try CStore(path), CKeys(people.prefix(count).map(\.id)))
            },
            run: { store, keys in ReportMetric.metrics(of: try store.observeUpdates(keys.pointers)) })
    }

    private static func reader<Store>(
        _ name: String, of keys: [String], among people: [Person], open: @escaping (String) throws -> Store,
        lookUp: @escaping (Store, [UnsafePointer<CChar>]) throws -> Int
    ) -> Contender {
        Contender(
            name,
            prepare: { workspace in
                let path = workspace.path("c.sqlite")
                try create(path, people)
                return (try open(path), CKeys(keys))
            },
            run: { store, keys in
                let found = try lookUp(store, keys.pointers)
                guard found == keys.pointers.count else {
                    throw BenchmarkError("\(name) found \(found) of \(keys.pointers.count) rows.")
                }
                return []
            })
    }

    private static func create(_ path: String, _ people: [Person]) throws {
        let store = try CStore(path)
        try store.createPeople()
        try store.insert(CPeople(people))
    }
}
