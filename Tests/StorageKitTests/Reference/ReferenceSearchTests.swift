import StorageEntities
import StorageKit
import StorageMaintenance
import StorageTesting
import Testing

/// The reference's chapters on full-text search.
@Suite struct ReferenceSearchTests {
    @StorageEntity
    struct Recipe {
        var id: String
        var title: String
        var steps: String
    }

    private static let recipes = [
        Recipe(id: "borscht", title: "Beetroot soup", steps: "Boil the beetroot slowly, then add cabbage and garlic."),
        Recipe(id: "varenyky", title: "Dumplings", steps: "Roll the dough. Boil in salted water with garlic butter."),
        Recipe(id: "kruchenyky", title: "Cabbage rolls", steps: "Rolling leaves around rice; bake, never boiling."),
        Recipe(id: "uzvar", title: "Dried fruit drink", steps: "Simmer pears and plums."),
    ]

    private func open(tokenizer: String? = nil) async throws -> Storage {
        let storage = try StorageKit.inMemory { schema in
            schema.autoSchema(RecipeRecord.self)
            if let tokenizer {
                schema.addFullTextSearch(table: "recipes", columns: ["title", "steps"], tokenizer: tokenizer)
            } else {
                schema.addFullTextSearch(table: "recipes", columns: ["title", "steps"])
            }
        }.facade
        try await storage.save(Self.recipes)
        return storage
    }

    @Test("Every form of a query finds what it means")
    func everyQueryForm() async throws {
        let storage = try await open()
        for (query, ids) in [
            ("beetroot", ["borscht"]), ("garlic boil", ["borscht", "varenyky"]), ("\"salted water\"", ["varenyky"]),
            ("\"water salted\"", []), ("boil AND (rice OR butter)", ["kruchenyky", "varenyky"]),
            ("cabbage OR pears", ["borscht", "kruchenyky", "uzvar"]), ("boil NOT garlic", ["kruchenyky"]),
            ("simm*", ["uzvar"]),
        ] {
            for syntax in [SearchSyntax.simple, .fts5] {
                let found = try await storage.search(Recipe.self, query: query, syntax: syntax)
                #expect(found.map(\.entity.id).sorted() == ids, "\(query)")
            }
        }
    }

    @Test("The full-text table can be queried with SQL")
    func queryingIndexWithSQL() async throws {
        let storage = try await open()
        let index = try await storage.fullTextTable(of: Recipe.self)
        let ids = try await storage.read { db in
            let sql = """
                SELECT id FROM recipes JOIN "\(index)" ON "\(index)".rowid = recipes.rowid
                WHERE "\(index)" MATCH ? ORDER BY id
                """
            return try String.fetchAll(db, sql: sql, arguments: ["NEAR(salted water, 2)"])
        }
        #expect(ids == ["varenyky"])
        let plain = try StorageKit.inMemory { $0.autoSchema(RecipeRecord.self) }.facade
        let missing = await #expect(throws: StorageError.self) { try await plain.fullTextTable(of: Recipe.self) }
        #expect(missing?.code == .notFound)
    }

    @Test("The best match is first and has the lowest rank")
    func bestMatchFirst() async throws {
        let storage = try await open()
        let results = try await storage.search(Recipe.self, query: "cabbage OR beetroot")
        #expect(results.first?.entity.id == "borscht")
        #expect(results.count == 2)
        #expect(results.map(\.rank) == results.map(\.rank).sorted())
        #expect(results.allSatisfy { $0.rank < 0 })
        #expect(results.allSatisfy { $0.snippet == nil })
        #expect(
            try await storage.search(Recipe.self, query: "cabbage OR beetroot", limit: 1).map(\.entity.id) == [
                "borscht"
            ])
    }

    @Test("Fifty are found by default")
    func defaultLimit() async throws {
        let storage = try await open()
        try await storage.save((0..<60).map { Recipe(id: "r\($0)", title: "Toast", steps: "Toast bread.") })
        #expect(try await storage.search(Recipe.self, query: "toast").count == 50)
        #expect(try await storage.searchWithSnippets(Recipe.self, query: "toast").count == 50)
        #expect(try await storage.search(Recipe.self, query: "toast", limit: 100).count == 60)
    }

    @Test("Snippets mark the words in the requested column")
    func snippetColumns() async throws {
        let storage = try await open()
        let titles = try await storage.searchWithSnippets(
            Recipe.self, query: "cabbage rolls", snippetColumn: 0, limit: 10)
        #expect(titles.map(\.snippet) == ["<b>Cabbage</b> <b>rolls</b>"])
        let byDefault = try await storage.searchWithSnippets(Recipe.self, query: "cabbage rolls")
        #expect(byDefault.map(\.snippet) == titles.map(\.snippet))
        let steps = try await storage.searchWithSnippets(Recipe.self, query: "salted", snippetColumn: 1, limit: 10)
        #expect(steps.map(\.snippet) == ["Roll the dough. Boil in <b>salted</b> water with garlic butter."])
        // Of a long text only 32 words stand around the match.
        let long = (0..<200).map { "word\($0)" }.joined(separator: " ")
        try await storage.save(Recipe(id: "long", title: "Long", steps: long))
        let part = try await storage.searchWithSnippets(Recipe.self, query: "word100", snippetColumn: 1).first?.snippet
        let text = try #require(part)
        #expect(text.hasPrefix("..."))
        #expect(text.hasSuffix("..."))
        #expect(text.contains("<b>word100</b>"))
        #expect(text.split(separator: " ").count == 32)
    }

    @Test("The index follows every change")
    func indexFollowsChanges() async throws {
        let storage = try await open()
        try await storage.save(Recipe(id: "uzvar", title: "Compote", steps: "Stew quinces."))
        try await storage.delete(Recipe.self, id: "borscht")
        try await storage.write { try $0.execute("UPDATE recipes SET title = 'Pierogi' WHERE id = 'varenyky'") }
        for (query, ids) in [("pears", []), ("quinces", ["uzvar"]), ("beetroot", []), ("pierogi", ["varenyky"])] {
            #expect(try await storage.search(Recipe.self, query: query).map(\.entity.id) == ids, "\(query)")
        }
        #expect(try await storage.verify().isSound)
    }

    @Test("The tokenizer decides what a word is")
    func tokenizers() async throws {
        for (tokenizer, query, count) in [
            ("porter", "boils", 3), ("unicode61", "boils", 0), ("unicode61", "boil", 2), ("ascii", "BOIL", 2),
        ] {
            let storage = try await open(tokenizer: tokenizer)
            #expect(try await storage.search(Recipe.self, query: query).count == count, "\(tokenizer) \(query)")
        }
        let ukrainian = try await open(tokenizer: "unicode61")
        try await ukrainian.save(Recipe(id: "ua", title: "Борщ із Києва", steps: "Варити"))
        #expect(try await ukrainian.search(Recipe.self, query: "КИЄВА").map(\.entity.id) == ["ua"])
    }

    @Test("A search without an index says what is missing")
    func searchWithoutIndex() async throws {
        let storage = try StorageKit.inMemory { $0.autoSchema(RecipeRecord.self) }.facade
        for search in [
            { try await storage.search(Recipe.self, query: "x") },
            { try await storage.searchWithSnippets(Recipe.self, query: "x") },
        ] {
            let error = await #expect(throws: StorageError.self) { _ = try await search() }
            #expect(error?.code == .notFound)
            #expect(error?.remedy.contains("addFullTextSearch") ?? false)
        }
    }

    @Test("A table is declared before its index")
    func indexBeforeTable() throws {
        let error = #expect(throws: StorageError.self) {
            try StorageKit.inMemory { schema in
                schema.addFullTextSearch(table: "recipes", columns: ["title"])
                schema.autoSchema(RecipeRecord.self)
            }
        }
        #expect(error?.code == .schemaMismatch)
        #expect(error?.remedy.contains("autoSchema before") ?? false)
    }
}
