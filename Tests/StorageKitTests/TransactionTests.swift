import GRDB
import StorageKit
import StorageTesting
import Testing

/// What a write returns, and reads of several entities at one state.
@Suite struct TransactionTests {
    @StorageEntity
    struct Author {
        var id: Int
        var name: String
        @StorageHasMany(foreignKey: "authorId") var books: [Book]
    }

    @StorageEntity
    struct Book {
        var id: Int
        var title: String
        var authorId: Int?
        @StorageBelongsTo(foreignKey: "authorId", onDelete: .setNull) var author: Author?
    }

    @StorageEntity
    struct Review {
        var id: Int
        var bookId: Int
        @StorageBelongsTo(foreignKey: "bookId", onDelete: .cascade) var book: Book?
    }

    private func storage() async throws -> Storage {
        let storage = try StorageKit.inMemory { schema in
            schema.autoSchema(AuthorRecord.self, BookRecord.self, ReviewRecord.self)
            schema.addFullTextSearch(table: "books", columns: ["title"])
        }.facade
        try await storage.save([Author(id: 1, name: "Ann", books: []), Author(id: 2, name: "Bea", books: [])])
        try await storage.save((1...5).map { Book(id: $0, title: "Book \($0)", authorId: $0 % 2 + 1, author: nil) })
        try await storage.save((1...9).map { Review(id: $0, bookId: ($0 - 1) % 5 + 1, book: nil) })
        return storage
    }

    // MARK: What a write returns

    @Test("A write returns its value and the receipt")
    func writeReturnsValueAndReceipt() async throws {
        let storage = try await storage()
        let (count, receipt) = try await storage.write(reason: "more") { tx in
            try tx.save(Author(id: 3, name: "Cleo", books: []))
            return try tx.count(Author.self)
        }
        #expect(count == 3)
        #expect(receipt.eventCount == 1)
        #expect(receipt.position == storage.head)
        let names = try await storage.write { try $0.all(Author.self).map(\.name) }
        #expect(names.value == ["Ann", "Bea", "Cleo"])
        #expect(names.receipt.commit == nil)
    }

    @Test("A write without a value returns the receipt")
    func writeReturnsReceipt() async throws {
        let storage = try await storage()
        let receipt: CommitReceipt = try await storage.write { tx in
            try tx.delete(Author.self, id: 1)
        }
        #expect(receipt.commit != nil)
    }

    /// A text whose file can be missing.
    struct Attachment: StorageColumnValue, Equatable, Codable {
        var text: String
        static var columnType: String { "TEXT" }
        var storageValue: StorageValue { .text(text) }

        init(_ text: String) { self.text = text }

        init(storageValue: StorageValue) throws {
            guard case .text(let text) = storageValue else {
                throw StorageError(.invalidValue, "It isn't a text.", remedy: "Store a text.")
            }
            self.text = text
        }

        func write(to row: RowWriter, at index: Int32) throws {
            guard text != "missing" else {
                throw StorageError(.ioError, "The attachment can't be read.", remedy: "Check its file.")
            }
            text.write(to: row, at: index)
        }
    }

    @StorageEntity
    struct Letter: Equatable {
        var id: Int
        var attachment: Attachment
    }

    /// The code alone doesn't say that the store's own file has failed.
    @Test("A call that throws an error of the user's code keeps nothing")
    func failedCallOfUser() async throws {
        let storage = try StorageKit.inMemory { $0.autoSchema(LetterRecord.self) }.facade
        try await storage.write { tx in
            let error = #expect(throws: StorageError.self) {
                try tx.save([
                    Letter(id: 1, attachment: Attachment("there")), Letter(id: 2, attachment: Attachment("missing")),
                ])
            }
            #expect(error?.code == .ioError)
            try tx.save(Letter(id: 3, attachment: Attachment("there")))
        }
        #expect(try await storage.all(Letter.self).map(\.id) == [3])
        #expect(try await storage.verify().isSound)
    }

    /// RAISE(FAIL) keeps what its statement has done before.
    @Test("A call that a trigger fails keeps nothing")
    func failingTrigger() async throws {
        let storage = try await storage()
        try await storage.write { tx in
            try tx.execute(
                """
                CREATE TRIGGER no_zoe AFTER INSERT ON authors WHEN new.name = 'Zoe' BEGIN SELECT RAISE(FAIL, 'no'); END;
                CREATE TRIGGER not_zoe AFTER UPDATE ON authors WHEN new.name = 'Zoe' BEGIN SELECT raise(fail, 'no'); END;
                CREATE TRIGGER bea_stays AFTER DELETE ON authors WHEN old.name = 'Bea' BEGIN SELECT RAISE(FAIL, 'no'); END
                """)
        }
        let receipt: CommitReceipt = try await storage.write { tx in
            let zoe = Author(id: 9, name: "Zoe", books: [])
            for save in [{ try tx.save(zoe) }, { try tx.save([zoe]) }] {
                #expect(throws: StorageError.self) { try save() }
            }
            #expect(throws: StorageError.self) { try tx.delete(Author.self, id: 2) }
            #expect(throws: StorageError.self) { try tx.deleteAll(Author.self) }
            #expect(throws: StorageError.self) { try tx.deleteAll(Author.self, where: "name", equals: "Bea") }
            #expect(throws: StorageError.self) { try tx.query(Author.self).deleteAll() }
            #expect(throws: StorageError.self) { try tx.query(Author.self).updateAll { $0.name.set(to: "Zoe") } }
        }
        #expect(receipt.commit == nil)
        #expect(try await storage.all(Author.self).map(\.name) == ["Ann", "Bea"])
        #expect(try await storage.verify().isSound)
    }

    @Test(
        "A call that fails in any spelling keeps nothing, also right after what fails it was created",
        arguments: [
            "SELECT RAISE ( /* no */ fail , 'no')", "INSERT OR -- no\n FaIl INTO marks VALUES (1)",
            "UPDATE OR FAIL marks SET n = 1", "INSERT INTO kept VALUES (1)",
        ])
    func failingStatement(_ statement: String) async throws {
        let storage = try await storage()
        try await storage.write { tx in
            if statement.contains("kept") {
                try tx.execute("CREATE TABLE kept(n UNIQUE ON\nCONFLICT/**/fail); INSERT INTO kept VALUES (1)")
            }
            try tx.execute("CREATE TABLE marks(n UNIQUE); INSERT INTO marks VALUES (1), (2)")
            try tx.execute(
                "CREATE TRIGGER bea_stays AFTER DELETE ON authors WHEN old.name = 'Bea' BEGIN \(statement); END")
            #expect(throws: StorageError.self) { try tx.deleteAll(Author.self) }
        }
        #expect(try await storage.all(Author.self).map(\.name) == ["Ann", "Bea"])
        #expect(try await storage.verify().isSound)
    }

    @Test(
        "A call that a temporary trigger fails keeps nothing",
        arguments: ["SELECT RAISE(FAIL, 'no')", "INSERT INTO marks VALUES (1)"])
    func failingTemporaryTrigger(_ statement: String) async throws {
        let storage = try await storage()
        try await storage.write { tx in
            try tx.execute(
                """
                CREATE TEMP TABLE marks(n UNIQUE ON CONFLICT FAIL);
                INSERT INTO marks VALUES (1);
                CREATE TEMP TRIGGER bea_stays AFTER DELETE ON main.authors WHEN old.name = 'Bea' BEGIN \(statement); END
                """)
            #expect(throws: StorageError.self) { try tx.deleteAll(Author.self) }
            try tx.execute("DROP TRIGGER temp.bea_stays; DROP TABLE temp.marks")
        }
        #expect(try await storage.all(Author.self).map(\.name) == ["Ann", "Bea"])
        #expect(try await storage.verify().isSound)
    }

    @Test("A statement that isn't read to its end is named as what keeps rows from being saved")
    func unfinishedStatement() async throws {
        let storage = try await storage()
        try await storage.write { tx in
            // The word FAIL as a text, a name or a comment does nothing.
            try tx.execute(
                """
                CREATE TRIGGER harmless AFTER INSERT ON authors BEGIN
                  SELECT 'RAISE(FAIL) or fail' AS fail; -- INSERT OR FAIL
                END
                """)
        }
        try await storage.write { tx in
            let changed = try GRDB.Row.fetchCursor(
                tx.database, sql: "UPDATE authors SET name = name || '!' RETURNING id")
            _ = try changed.next()
            let authors = [Author(id: 3, name: "Cleo", books: []), Author(id: 4, name: "Dora", books: [])]
            let error = #expect(throws: StorageError.self) { try tx.save(authors) }
            #expect(error?.code == .invalidArgument)
            #expect(error?.remedy.contains("Read the statement to its end") == true)
            // SQLite undoes a single statement by itself.
            try tx.save(authors[0])
            while try changed.next() != nil {}
            try tx.save(authors)
        }
        #expect(try await storage.all(Author.self).map(\.name) == ["Ann!", "Bea!", "Cleo", "Dora"])
    }

    @Test("Of a call that throws, no row is saved, and the transaction continues")
    func failedCall() async throws {
        let storage = try await storage()
        try await storage.write { try $0.execute("CREATE UNIQUE INDEX authors_by_name ON authors(name)") }
        let receipt: CommitReceipt = try await storage.write { tx in
            let error = #expect(throws: StorageError.self) {
                try tx.save(["Cleo", "Ann", "Dora"].enumerated().map { Author(id: $0 + 3, name: $1, books: []) })
            }
            #expect(error?.code == .conflict)
            try tx.save([Author(id: 9, name: "Zoe", books: [])])
        }
        #expect(receipt.eventCount == 1)
        #expect(try await storage.all(Author.self).map(\.name) == ["Ann", "Bea", "Zoe"])
        #expect(try await storage.verify().isSound)
    }

    // MARK: Counts

    @Test("Rows that are deleted along don't count")
    func cascadedRowsDontCount() async throws {
        let storage = try await storage()
        #expect(try await storage.deleteAll(Author.self) == 2)
        #expect(try await storage.count(Book.self) == 5)
        #expect(try await storage.deleteAll(Book.self, where: "title", equals: "Book 1") == 1)
        #expect(try await storage.repository(Book.self).deleteAll() == 4)
        #expect(try await storage.count(Review.self) == 0)
        #expect(try await storage.deleteAll(Book.self) == 0)
    }

    @Test("A transaction counts what it deletes")
    func deletionCounts() async throws {
        let storage = try await storage()
        let counts = try await storage.write { tx in
            [try tx.deleteAll(Book.self, where: "authorId", equals: 1), try tx.deleteAll(Author.self)]
        }
        #expect(counts.value == [2, 2])
    }

    // MARK: Reads at one state

    @Test("No commit comes between the reads of a transaction")
    func readTransactionIsolation() async throws {
        let store = try TemporaryStore { $0.autoSchema(AuthorRecord.self) }
        let storage = store.storage
        try await storage.save(Author(id: 1, name: "Ann", books: []))
        let (reading, hasBegun) = AsyncStream.makeStream(of: Void.self)
        let committed = DispatchSemaphore(value: 0)
        async let counts = storage.readTransaction { tx in
            let before = try tx.count(Author.self)
            hasBegun.yield()
            committed.wait()
            return [before, try tx.all(Author.self).count, try tx.query(Author.self).count()]
        }
        for await _ in reading { break }
        try await storage.save(Author(id: 2, name: "Bea", books: []))
        committed.signal()
        #expect(try await counts == [1, 1, 1])
        #expect(try await storage.count(Author.self) == 2)
    }

    @Test("A read transaction reads as the store does")
    func readTransactionEqualsStore() async throws {
        let storage = try await storage()
        let books = try await storage.all(Book.self, orderBy: "title", ascending: false)
        try await storage.readTransaction { tx in
            #expect(try tx.all(Book.self, orderBy: "title", ascending: false) == books)
            #expect(try tx.get(Book.self, id: 2) == books[3])
            #expect(try tx.exists(Book.self, id: 2))
            #expect(try tx.get(Book.self, id: 9) == nil)
            #expect(try !tx.exists(Book.self, id: 9))
            let page = try tx.page(Book.self, limit: 2, offset: 4)
            #expect(page.items.map(\.id) == [5])
            #expect(!page.hasMore)
            let query = tx.query(Book.self).where { $0.authorId == 1 }
            #expect(try query.fetch().map(\.id) == [2, 4])
            #expect(try query.count() == 2)
            #expect(try query.exists())
            #expect(try query.orderBy(\.id, .descending).fetchOne()?.id == 4)
            #expect(try query.page(size: 1).items.map(\.id) == [2])
            #expect(try tx.loadChildren(Book.self, where: "authorId", equals: 1).map(\.id) == [2, 4])
            let authors = try tx.all(Author.self)
            #expect(try tx.loadChildren(of: authors, \.books)[2]?.map(\.id) == [1, 3, 5])
            #expect(try tx.loadChildren(of: authors[0], \.books, ascending: false).map(\.id) == [4, 2])
            #expect(try tx.loadParents(Author.self, ids: [1, 7]).keys.sorted() == [1])
            #expect(try tx.loadParent(Author.self, id: 2)?.name == "Bea")
            #expect(try tx.search(Book.self, query: "5").map(\.entity.id) == [5])
            #expect(try tx.searchCount(Book.self, query: "book") == 5)
        }
        let unknown = await #expect(throws: StorageError.self) {
            try await storage.readTransaction { try $0.all(Book.self, orderBy: "nothing") }
        }
        #expect(unknown?.code == .invalidName)
    }

    @Test("A write transaction reads its own changes")
    func writeTransactionReadsItsChanges() async throws {
        let storage = try await storage()
        try await storage.write { tx in
            try tx.delete(Book.self, id: 1)
            #expect(try tx.count(Book.self) == 4)
            #expect(try !tx.exists(Book.self, id: 1))
            #expect(try tx.page(Book.self, limit: 1).items.map(\.id) == [2])
            #expect(try tx.loadChildren(Book.self, where: "authorId", equals: 2).map(\.id) == [3, 5])
        }
    }

    @Test("SQL that changes rows in a read says to use write")
    func changingInARead() async throws {
        let store = try TemporaryStore { $0.autoSchema(AuthorRecord.self, BookRecord.self) }
        let error = await #expect(throws: StorageError.self) {
            try await store.storage.read { try $0.execute(sql: "DELETE FROM books") }
        }
        #expect(error?.code == .readOnly)
        #expect(error?.message.contains("opened for reading only") == false)
        #expect(error?.remedy.contains("`write`") == true)
        #expect(error?.remedy.contains("permissions") == true)
        let reader = try StorageKit.start(at: store.url, config: .init(isReadOnly: true)).facade
        let refused = await #expect(throws: StorageError.self) {
            try await reader.save(Book(id: 1, title: "", authorId: nil, author: nil))
        }
        #expect(refused?.message == "The store was opened for reading only.")
        try await reader.close()
    }

    // MARK: Errors

    @Test("Calls in a transaction throw errors of StorageKit, and the transaction continues")
    func errorsInTransactions() async throws {
        let storage = try await storage()
        let receipt = try await storage.write { tx in
            let calls: [(StorageError.Code, () throws -> Void)] = [
                (.database, { try tx.execute("UPDATE nowhere SET a = 1") }),
                (.database, { try tx.execute("UPDATE nowhere SET a = ?", [1]) }),
                (.conflict, { try tx.execute("INSERT INTO authors(id, name) VALUES (1, 'again')") }),
                (.database, { _ = try tx.query(Author.self).where(.sql("nope > 1")).fetch() }),
                (.database, { _ = try tx.query(Author.self).where(.sql("nope > 1")).count() }),
                (.database, { try tx.query(Author.self).where(.sql("nope > 1")).deleteAll() }),
            ]
            for (code, call) in calls {
                let error = #expect(throws: StorageError.self) { try call() }
                #expect(error?.code == code)
            }
            try tx.execute("UPDATE authors SET name = ? WHERE id = 1", ["Anna"])
        }
        #expect(receipt.eventCount == 1)
        await #expect(throws: StorageError.self) {
            try await storage.readTransaction { _ = try $0.query(Author.self).where(.sql("nope > 1")).fetch() }
        }
    }

    // MARK: Columns

    @StorageEntity
    struct Measure {
        var id: Int
        var length: Double
    }

    @Test("An error names the column that a value doesn't fit")
    func errorNamesColumn() async throws {
        let storage = try StorageKit.inMemory { $0.autoSchema(MeasureRecord.self) }.facade
        let error = await #expect(throws: StorageError.self) {
            try await storage.save(Measure(id: 1, length: .nan))
        }
        #expect(error?.code == .invalidValue)
        #expect(error?.message.contains("\"measures.length\"") == true)
    }

    @Test("Columns are named by their properties")
    func columnsByProperty() async throws {
        let storage = try await storage()
        #expect(try await storage.all(Book.self, orderBy: \.title, ascending: false).map(\.id) == [5, 4, 3, 2, 1])
        #expect(try await storage.page(Book.self, orderBy: \.title, limit: 2).items.map(\.id) == [1, 2])
        #expect(try await storage.deleteAll(Book.self, where: \.title, equals: "Book 3") == 1)
        let rest = try await storage.readTransaction { tx in
            (try tx.all(Book.self, orderBy: \.title), try tx.page(Book.self, orderBy: \.title, limit: 1, offset: 2))
        }
        #expect(rest.0.map(\.id) == [1, 2, 4, 5])
        #expect(rest.1.items.map(\.id) == [4])
    }

    // MARK: Positions

    @Test("The row's position comes with the row")
    func positionWithRow() async throws {
        let storage = try await storage()
        let receipt = try await storage.save(Author(id: 1, name: "Anna", books: []))
        let found = try #require(try await storage.getWithPosition(Author.self, id: 1))
        #expect(found.entity.name == "Anna")
        #expect(found.position == receipt.position)
        #expect(try await storage.position(of: Author.self, id: 1) == receipt.position)
        #expect(try await storage.position(of: Author.self, id: 9) == nil)
        #expect(try await storage.getWithPosition(Author.self, id: 9) == nil)
        var changed = found.entity
        changed.name = "Ann"
        try await storage.save(changed, expecting: .position(found.position))
        let late = await #expect(throws: StorageError.self) {
            try await storage.save(changed, expecting: .position(found.position))
        }
        #expect(late?.code == .conflict)
        #expect(late?.message.hasSuffix("not at position \(found.position).") == true)
        let inside = try await storage.write { try $0.getWithPosition(Author.self, id: 1)?.position }
        #expect(inside.value == storage.head)
    }
}
