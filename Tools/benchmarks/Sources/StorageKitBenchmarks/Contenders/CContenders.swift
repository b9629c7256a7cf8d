/// SQLite by itself, in C, without history.
enum CContenders {
    private static let operationsPerTransaction = 10_000

    static func saveMany(_ people: [Person]) -> [Contender] {
        let rows = CPeople(people)
        return [
            contender(ContenderName.cUpsert) { try $0.upsert(rows, rowsPerTransaction: people.count) }
        ]
    }

    static func saveOneByOne(_ people: [Person]) -> [Contender] {
        let rows = CPeople(people)
        return [
            contender(ContenderName.cUpsert) { try $0.upsert(rows, rowsPerTransaction: 1) }
        ]
    }

    static func bulkLoad(_ people: [Person]) -> [Contender] {
        let rows = CPeople(people)
        return [
            contender(ContenderName.cBulkLoad) { try $0.insert(rows) }
        ]
    }

    /// - Parameter store: Where the rows are taken from, before the time begins.
    static func bulkLoad(rowsOf store: String) -> [Contender] {
        [
            Contender(
                ContenderName.cBulkLoad,
                prepare: { workspace in
                    let rows = try CStore(store).rows()
                    let target = try CStore(workspace.path("c.sqlite"))
                    try target.createTables(of: rows)
                    return (target, rows)
                },
                run: { target, rows in
                    try target.insert(rows)
                    return []
                })
        ]
    }

    static func readAll(_ people: [Person]) -> [Contender] {
        let rows = CPeople(people)
        return [
            Contender(
                "C read",
                prepare: { workspace in
                    let store = try CStore(workspace.path("c.sqlite"))
                    try store.createPeople()
                    try store.insert(rows)
                    return store
                },
                run: { store in
                    guard try store.readPeople() == people.count else {
                        throw BenchmarkError("The C baseline read another number of rows than it was given.")
                    }
                    return []
                })
        ]
    }

    /// Without and with the reading and parsing of the file, because an import has to do that too.
    static func importHistory(_ history: CHistory, jsonLines: String) -> [Contender] {
        [
            Contender(
                ContenderName.cUpsert,
                prepare: { workspace in
                    let store = try CStore(workspace.path("c.sqlite"))
                    try store.createTables(of: history)
                    return store
                },
                run: { store in
                    try store.apply(history, operationsPerTransaction: operationsPerTransaction)
                    return []
                }),
            parsing(ContenderName.cParseAndUpsert, jsonLines) { store, parsed in
                try store.apply(parsed, operationsPerTransaction: operationsPerTransaction)
            },
            parsing(ContenderName.cRowVersions, jsonLines) { store, parsed in
                try store.keepRowVersions(of: parsed)
                try store.apply(parsed, operationsPerTransaction: operationsPerTransaction)
            },
            parsing(ContenderName.cJSONAudit, jsonLines) { store, parsed in
                try store.keepJSONAudit(of: parsed)
                try store.apply(parsed, operationsPerTransaction: operationsPerTransaction)
            },
            parsing(ContenderName.cChangesets, jsonLines) { store, parsed in
                try store.applyWithChangesets(parsed, operationsPerTransaction: operationsPerTransaction)
            },
        ]
    }

    private static func parsing(
        _ name: String, _ jsonLines: String, apply: @escaping (CStore, CHistory) throws -> Void
    ) -> Contender {
        Contender(
            name,
            prepare: { try CStore($0.path("c.sqlite")) },
            run: { store in
                let parsed = try CHistory(path: jsonLines)
                try store.createTables(of: parsed)
                try apply(store, parsed)
                return []
            })
    }

    static func contender(_ name: String, run: @escaping (CStore) throws -> Void) -> Contender {
        Contender(
            name,
            prepare: { workspace in
                let store = try CStore(workspace.path("c.sqlite"))
                try store.createPeople()
                return store
            },
            run: { store in
                try run(store)
                return []
            })
    }
}
