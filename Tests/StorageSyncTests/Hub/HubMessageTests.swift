import StorageCore
import Testing

@testable import StorageSync

/// What one side of a hub's protocol writes, the other one reads.
struct HubMessageTests {
    private let line = [UInt8](0..<16)
    private let fields: [String: StorageValue] = [
        "a": .text("1.10"), "é\"\n": .text("\"\\ud83d\\ude00\""), "big": .text("123456789012345678901234567890"),
        "json": .text("{\"b\":[1,null]}"),
    ]

    private func comesBack<Message: HubMessage & Equatable>(_ message: Message) throws {
        let json = message.json
        #expect(JSONReader.compact(String(decoding: json, as: UTF8.self)) != nil)
        #expect(try Message(json: json) == message)
    }

    private func json(_ message: some HubMessage) -> String { String(decoding: message.json, as: UTF8.self) }

    @Test("Messages round-trip")
    func messages() throws {
        let document = DocumentID(entity: "products", id: "p/1\"é")
        try comesBack(HubHello(producer: "a/b", epoch: 1 << 53))
        try comesBack(
            SyncWelcome(
                lines: [RemoteLine(id: line, fork: 0), RemoteLine(id: line.reversed(), fork: 12)], head: 120,
                lastNumber: 7,
                results: [NumberedResult(number: 7, result: .applied(at: 3))],
                lastSession: SyncSession(epoch: 1 << 53, line: line)))
        try comesBack(
            SyncWelcome(lines: [RemoteLine(id: line, fork: 0)], head: 0, lastNumber: 0, results: [], access: "1f"))
        try comesBack(
            HubBatch(
                producer: ProducerID("a"), epoch: 3, line: line, firstNumber: 8,
                writes: [
                    HubWrite(origin: 17, document: document, operation: .save(fields), base: 100),
                    HubWrite(origin: 18, document: document, operation: .patch(["a": .text("null")]), base: 100),
                    HubWrite(origin: 19, document: document, operation: .delete, base: 100),
                ]))
        try comesBack(HubBatch(producer: ProducerID("a"), epoch: 0, line: line, firstNumber: 0, writes: []))
        let outcomes: [WriteResult] = [
            .applied(at: 121), .rejected(.deleted), .rejected(.missing), .rejected(.unknown), .rejected(.invalid("")),
            .rejected(.invalid("Prices aren't negative.")), .blocked,
        ]
        try comesBack(HubResults(outcomes.enumerated().map { NumberedResult(number: Int64($0), result: $1) }))
        try comesBack(
            HubPage(
                line: line,
                page: SyncPage(
                    start: 100, end: 121,
                    changes: [
                        RemoteChange(position: 101, document: document, operation: .save(fields), ownOrigin: 17),
                        RemoteChange(
                            position: 111, document: document, operation: .save(fields), ownOrigin: 18,
                            otherPosition: 102),
                        RemoteChange(position: 121, document: document, operation: .delete, ownOrigin: nil),
                    ])))
        try comesBack(HubDocument(id: "", version: 0, fields: fields.texts))
        try comesBack(HubFields(fields.texts))
        try comesBack(HubWritten(id: "p1", version: 121, position: 125))
        try comesBack(HubCollectionList([.init(name: "products", reads: true, writes: false)]))
        try comesBack(HubProblem(.sessionEnded, "Begin again.", epoch: 4))
    }

    @Test("Documents say after which id more follow")
    func nextOfDocuments() throws {
        let found = HubDocumentPage(
            documents: ["a", "b"].map { HubDocument(id: $0, version: 1, fields: [:]) }, hasMore: true, position: 9,
            line: line)
        #expect(json(found).hasSuffix(",\"next\":\"b\"}"))
        let again = try HubDocumentPage(json: found.json)
        #expect(again.hasMore)
        #expect(again.documents == found.documents)
        #expect(again.position == 9)
        #expect(again.line == line)
        #expect(
            try !HubDocumentPage(json: "{\"line\":\"\(Hexadecimal.text(line))\",\"position\":1,\"documents\":[]}".utf8)
                .hasMore)
    }

    @Test("Queries round-trip")
    func queries() throws {
        let query = QueryBuilder()
            .where("price", isLessThan: 10).where("tags", arrayContainsAny: ["a", "b"]).where(
                "deleted", isNotEqualTo: true
            )
            .order(by: "price", descending: true).order(by: "name").limit(to: 10).limit(toLast: 3)
            .start(at: [1.5]).start(after: [2, "b"]).end(at: [3]).end(before: [4])
        let again = try QueryBuilder(json: query.json)
        #expect(again.getFilters() == query.getFilters())
        #expect(again.getOrders() == query.getOrders())
        #expect(again.getLimit() == 10)
        #expect(again.getLimitToLast() == 3)
        #expect(again.getStartAt()?.count == 1)
        #expect(again.getStartAfter()?.count == 2)
        #expect(json(again) == json(query))
        #expect(throws: JSONReader.Malformed.self) {
            try QueryBuilder(json: #"{"filters":[{"field":"a","operator":"=~","value":1}]}"#.utf8)
        }
    }

    @Test(
        "Parts of a query are limited", arguments: ["filters", "orders", "startAt", "startAfter", "endAt", "endBefore"])
    func queryLimits(name: String) throws {
        let part =
            switch name {
            case "filters": #"{"field":"a","operator":"==","value":1}"#
            case "orders": #"{"field":"a"}"#
            default: "1"
            }
        func query(_ count: Int) -> String {
            "{\"\(name)\":[\(Array(repeating: part, count: count).joined(separator: ","))]}"
        }
        #expect(try QueryBuilder(json: query(100).utf8).getOperations().count == (name.hasSuffix("s") ? 100 : 1))
        #expect {
            try QueryBuilder(json: query(101).utf8)
        } throws: {
            ($0 as? JSONReader.Malformed)?.problem.contains("more than 100") == true
        }
    }

    @Test("Messages are written as the protocol specifies")
    func wireFormat() {
        let write = HubWrite(
            origin: 17, document: DocumentID(entity: "products", id: "p1"), operation: .save(["price": .text("9.90")]),
            base: 100)
        #expect(
            json(write)
                == #"{"origin":17,"base":100,"collection":"products","id":"p1","operation":"save","fields":{"price":9.90}}"#
        )
        #expect(
            json(NumberedResult(number: 9, result: .rejected(.invalid("no"))))
                == #"{"number":9,"status":"rejected","reason":"invalid","detail":"no"}"#)
        #expect(json(HubProblem(.keyReused, "x")).hasPrefix(#"{"status":409,"code":"key-reused","title":"#))
    }

    @Test("Unknown keys are skipped")
    func unknownKeys() throws {
        #expect(
            try HubHello(json: #"{"new":{"a":[1]},"producer":"a","epoch":1}"#.utf8) == HubHello(producer: "a", epoch: 1)
        )
    }

    @Test(
        "Malformed messages are refused",
        arguments: [
            "", "null", "[]", "{}", "{\"producer\":\"a\"}", "{\"epoch\":1}", "{\"producer\":1,\"epoch\":1}",
            "{\"producer\":\"a\",\"epoch\":-1}",
            "{\"producer\":\"a\",\"epoch\":1.0}", "{\"producer\":\"a\",\"epoch\":1}{}",
            "{\"producer\":\"a\",\"epoch\":1,\"epoch\":2}",
            "{\"producer\":\"a\",\"epoch\":1,\"x\":\"\\ud800\"}", "{\"producer\":\"a\\u0000\",\"epoch\":1}",
        ])
    func malformedMessages(json: String) {
        #expect(throws: JSONReader.Malformed.self) { try HubHello(json: json.utf8) }
    }

    @Test(
        "Malformed writes are refused",
        arguments: [
            #""operation":"save""#, #""operation":"patch""#, #""operation":"upsert","fields":{}"#,
            #""operation":"save","fields":[]"#,
            #""operation":"save","fields":{"a":1,"a":2}"#, #""operation":"save","fields":{"a":01}"#, #""fields":{}"#,
        ])
    func malformedWrites(rest: String) {
        #expect(throws: JSONReader.Malformed.self) {
            try HubWrite(json: "{\"origin\":1,\"base\":1,\"collection\":\"a\",\"id\":\"b\",\(rest)}".utf8)
        }
    }

    @Test(
        "Ids of lines are sixteen bytes in hexadecimal",
        arguments: [
            "", "00", "000102030405060708090a0b0c0d0e0F", "000102030405060708090a0b0c0d0e0g",
            "000102030405060708090a0b0c0d0e0f00",
        ])
    func malformedLineIds(text: String) {
        #expect(throws: JSONReader.Malformed.self) { try RemoteLine(json: "{\"id\":\"\(text)\",\"fork\":0}".utf8) }
    }

    // MARK: Queries of URLs

    @Test("A pull round-trips as query items")
    func pullQueryItems() throws {
        var pull = HubPull(behind: 100, of: ["a b", "é&="])
        pull.line = line
        pull.producer = ProducerID("store/engine+1")
        pull.document = "p/1?"
        pull.limit = 7
        pull.wait = .seconds(25)
        let query = HubChangesQuery(pull, follows: false)
        #expect(try HubChangesQuery(QueryItems(query.items.text)) == query)
        let plain = HubChangesQuery(HubPull(behind: 0, of: ["a"]))
        #expect(try HubChangesQuery(QueryItems(plain.items.text)) == plain)
        #expect(try HubChangesQuery(QueryItems("collection=a")) == plain)
        (pull.lastPosition, pull.wait) = (200, .zero)
        let limited = HubChangesQuery(pull, follows: false)
        #expect(try HubChangesQuery(QueryItems(limited.items.text)) == limited)
        #expect(try !HubChangesQuery(QueryItems("collection=a&through=2")).follows)
    }

    @Test(
        "Malformed query items are refused",
        arguments: [
            "", "after=1", "collection=a&after=-1", "collection=a&after=x", "collection=a&after=01",
            "collection=a&after=1&after=2",
            "collection=a&line=00", "collection=a&limit=0", "collection=a&wait=1.5", "collection=a&follow=no",
            "collection=%", "collection=%f",
            "collection=a&through=-1", "collection=a&through=1&wait=1", "collection=a&through=1&follow=true",
            "collection=%ff", "collection=%00", "collection=a&after=9007199254740993", "collection=a&after=%2B1",
        ])
    func malformedQueryItems(text: String) {
        #expect(throws: QueryItems.Malformed.self) { try HubChangesQuery(QueryItems(text)) }
    }

    @Test("Names in URLs are encoded byte by byte")
    func percentEncoding() {
        #expect(PercentCoding.encoded("a/é +~") == "a%2F%C3%A9%20%2B~")
        #expect(PercentCoding.decoded("a%2f%C3%A9%20%2B~") == "a/é +~")
        #expect(PercentCoding.decoded("a+b") == "a+b")
        #expect(PercentCoding.decoded("a+b", isForm: true) == "a b")
    }
}
