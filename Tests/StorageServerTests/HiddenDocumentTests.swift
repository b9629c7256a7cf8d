#if STORAGE_SERVER
    import Foundation
    import NIOCore
    import NIOHTTP1
    import NIOPosix
    import StorageCore
    import Synchronization
    import Testing

    @testable import StorageServer
    @testable import StorageSync

    /// What a token's condition hides can't be distinguished from what isn't there.
    ///
    /// Two hubs are asked alike. In one of them documents are hidden among those that the token may see; in the other one the same number of
    /// documents lie in a collection that it may not read, so that both have the same positions, which are no secret. What is answered
    /// must be equal byte by byte.
    @Suite(.timeLimit(.minutes(10))) struct HiddenDocumentTests {
        /// A hub, and what may and may not be seen in it.
        private struct Twin: Sendable {
            let hub: ServedHub
            let full: String
            /// May see the notes of ada.
            let ada: String
            /// Whether the documents that ada doesn't see are notes.
            let hides: Bool

            init(_ hub: ServedHub, hides: Bool) async throws {
                self.hub = hub
                self.hides = hides
                full = try await hub.token("full")
                ada = try await hub.token("ada", [HubGrant(entity: "notes", writes: true, condition: "owner = 'ada'")])
                // Both collections have all columns from here on.
                for collection in ["notes", "others"] {
                    try await put("seed", in: collection, #"{"owner":"ada","n":100,"secret":"none"}"#)
                }
            }

            func put(_ id: String, in collection: String = "notes", _ body: String) async throws {
                let path = "/v1/collections/\(collection)/documents/\(id)"
                let answer = try await hub.send(.PUT, path, token: full, body: body)
                #expect(answer.status < 300, "\(answer.body)")
            }

            func patch(_ id: String, in collection: String = "notes", _ body: String) async throws {
                let path = "/v1/collections/\(collection)/documents/\(id)"
                let answer = try await hub.send(.PATCH, path, token: full, body: body)
                #expect(answer.status == 200, "\(answer.body)")
            }

            /// A note of bob's, or something else.
            func hide(_ id: String, n: Int, _ secret: String = "SECRET") async throws {
                try await put(
                    id, in: hides ? "notes" : "others", #"{"owner":"bob","n":\#(n),"secret":"\#(secret)"}"#)
            }

            /// A document that was hidden from its first to its last event.
            func hideAndDelete(_ id: String) async throws {
                try await hide(id, n: 7)
                let path = "/v1/collections/\(hides ? "notes" : "others")/documents/\(id)"
                #expect(try await hub.send(.DELETE, path, token: full).status == 204)
            }

            /// Status, headers and body, as far as they aren't those of the moment.
            func ask(
                _ method: HTTPMethod, _ path: String, _ body: String? = nil, headers: [String: String] = [:]
            ) async throws -> String {
                let answer = try await hub.send(method, path, token: ada, body: body, headers: headers)
                let names = answer.headers.filter { $0.name.lowercased() != "date" }.map { "\($0.name): \($0.value)" }
                return "\(method) \(path) \(body ?? ""): \(answer.status) \(names.sorted()) \(answer.body)"
            }

            func head() async throws -> Int64 {
                let answer = try await hub.send(.GET, "/v1/changes?collection=notes", token: full)
                return try HubPage(json: answer.body.utf8).page.end
            }

            /// Of the hub's history: random bytes.
            func line() async throws -> String {
                let answer = try await hub.send(.GET, "/v1/changes?collection=notes", token: full)
                return Hexadecimal.text(try HubPage(json: answer.body.utf8).line)
            }
        }

        /// What both hubs say, without the ids of their histories.
        private static func compare(
            _ ask: @escaping @Sendable (Twin) async throws -> [String]
        ) async throws -> [String] {
            let found = Mutex<[[String]]>([])
            for hides in [true, false] {
                try await ServedHub.run { hub in
                    let twin = try await Twin(hub, hides: hides)
                    let answers = try await ask(twin)
                    let line = try await twin.line()
                    found.withLock {
                        $0.append(answers.map { $0.replacingOccurrences(of: line, with: "LINE") })
                    }
                }
            }
            let (hidden, absent) = found.withLock { ($0[0], $0[1]) }
            for (left, right) in zip(hidden, absent) { #expect(left == right) }
            #expect(hidden.count == absent.count)
            #expect(!hidden.isEmpty)
            return hidden
        }

        /// Two documents around hidden ones, by every order and from every side.
        @Test("Orders and pages reveal nothing")
        func hiddenInOrdersAndPages() async throws {
            let answers = try await Self.compare { twin in
                try await twin.hide("0", n: 0)
                try await twin.put("a", #"{"owner":"ada","n":1,"secret":"x"}"#)
                try await twin.hide("b", n: 2, "M")
                try await twin.put("c", #"{"owner":"ada","n":3,"secret":"y"}"#)
                try await twin.hide("d", n: 3)
                try await twin.hide("large", n: 4, String(repeating: "SECRET", count: 10_000))
                var answers: [String] = []
                let path = "/v1/collections/notes"
                for after in ["", "&after=a", "&after=b", "&after=c", "&after=large"] {
                    for limit in 1...3 {
                        answers.append(try await twin.ask(.GET, "\(path)/documents?limit=\(limit)\(after)"))
                    }
                }
                for id in ["b", "d", "missing"] {
                    answers.append(try await twin.ask(.GET, "\(path)/documents/\(id)", headers: ["If-None-Match": "*"]))
                    answers.append(try await twin.ask(.HEAD, "\(path)/documents/\(id)"))
                }
                for field in ["n", "secret"] {
                    for direction in [false, true] {
                        let order = #""orders":[{"field":"\#(field)","descending":\#(direction)}]"#
                        let value = field == "n" ? "2" : #""M""#
                        let cursors = ["startAt", "startAfter", "endAt", "endBefore"].map { #","\#($0)":[\#(value)]"# }
                        for cursor in cursors + [""] {
                            for limit in ["", #","limit":1"#, #","limitToLast":1"#] {
                                let query = "{\(order)\(cursor)\(limit)}"
                                answers.append(try await twin.ask(.POST, "\(path)/query", query))
                            }
                        }
                    }
                }
                for filter in [
                    #"{"field":"n","operator":"==","value":2}"#,
                    #"{"field":"secret","operator":"==","value":"SECRET"}"#,
                    #"{"field":"n","operator":">","value":1}"#,
                    #"{"field":"owner","operator":"!=","value":"ada"}"#,
                ] {
                    answers.append(try await twin.ask(.POST, "\(path)/query", #"{"filters":[\#(filter)]}"#))
                }
                answers.append(try await twin.ask(.GET, "/v1/changes?collection=notes&document=b"))
                let line = try await twin.line()
                answers.append(try await twin.ask(.GET, "/v1/changes?collection=notes"))
                // What is hidden takes its place in small pages, so only what they have together is no secret.
                for start in 1..<(try await twin.head()) {
                    var (changes, position) = ([RemoteChange](), start)
                    while true {
                        let query = "collection=notes&limit=1&after=\(position)&line=\(line)"
                        let answer = try await twin.hub.send(.GET, "/v1/changes?\(query)", token: twin.ada)
                        let page = try HubPage(json: answer.body.utf8).page
                        changes += page.changes
                        if page.end == position { break }
                        position = page.end
                    }
                    answers.append("\(start): \(changes.map(Self.text))")
                }
                return answers
            }
            #expect(answers.contains { $0.contains(#""id":"a""#) })
            #expect(answers.contains { $0.contains(#""id":"c""#) })
            for answer in answers {
                // The question itself, which is before it, may ask for it.
                let body = answer.range(of: ": ").map { answer[$0.upperBound...] } ?? answer[...]
                #expect(!body.contains("SECRET"), "\(answer)")
                #expect(!body.contains("bob"), "\(answer)")
                #expect(!body.contains("malformed"), "\(answer)")
            }
        }

        private static func text(_ change: RemoteChange) -> String { String(decoding: change.json, as: UTF8.self) }

        /// Hidden documents are made, changed and deleted, and one comes into sight and leaves it, while a stream is read byte by byte.
        @Test("Streams reveal nothing")
        func hiddenInStreams() async throws {
            let streams = try await Self.compare { twin in [try await Self.stream(of: twin)] }
            let bytes = try #require(streams.first)
            // The first page, and one for each change that ada sees.
            #expect(bytes.components(separatedBy: "event: ").count - 1 == 8)
            for text in ["SECRET", "bob", #""b""#, "999"] { #expect(!bytes.contains(text), "\(text)") }
        }

        /// Documents leave what ada sees, and are changed, deleted and created again where she doesn't see it.
        @Test("Deletions don't reveal what is done behind them")
        func hiddenBehindDeletions() async throws {
            let answers = try await Self.compare { twin in
                var events = try await twin.hub.events("/v1/changes?collection=notes", token: twin.ada)
                _ = try await events.next()
                for id in ["left", "deleted"] { try await twin.put(id, #"{"owner":"ada","n":1,"secret":"none"}"#) }
                try await twin.patch("left", #"{"owner":"bob","secret":"SECRET"}"#)
                let path = "/v1/collections/notes/documents/deleted"
                #expect(try await twin.hub.send(.DELETE, path, token: twin.full).status == 204)
                for id in ["left", "deleted"] {
                    try await twin.hide(id, n: 2)
                    try await twin.hide(id, n: 3)
                    try await twin.hideAndDelete(id)
                    try await twin.hide(id, n: 4)
                }
                try await twin.put("last", #"{"owner":"ada","n":5}"#)
                var answers: [String] = []
                while answers.last?.contains(#""id":"last""#) != true {
                    answers.append(try #require(try await events.next()).data)
                }
                // How many there are depends on how far the hub had read at once; the last of each document doesn't.
                var last: [String: RemoteChange] = [:]
                for answer in answers {
                    for change in try HubPage(json: answer.utf8).page.changes { last[change.document.id] = change }
                }
                answers = last.sorted { $0.key < $1.key }.map { Self.text($0.value) }
                #expect(answers.count == 3)

                let (line, head) = (try await twin.line(), try await twin.head())
                for start in 1..<head {
                    for query in ["collection=notes", "collection=notes&document=left"] {
                        let path = "/v1/changes?\(query)&after=\(start)&line=\(line)"
                        // It ends before the head while the hub reads what was committed.
                        var answer: String
                        repeat { answer = try await twin.ask(.GET, path) } while !answer.contains(#""end":\#(head)"#)
                        answers.append(answer)
                    }
                    var (position, last) = (start, [String: RemoteChange]())
                    while position < head {
                        let path = "/v1/changes?collection=notes&limit=2&after=\(position)&line=\(line)"
                        let answer = try await twin.hub.send(.GET, path, token: twin.ada)
                        let page = try HubPage(json: answer.body.utf8).page
                        for change in page.changes { last[change.document.id] = change }
                        position = page.end
                    }
                    answers.append("\(start): \(last.sorted { $0.key < $1.key }.map { Self.text($0.value) })")
                }
                return answers
            }
            for answer in answers {
                #expect(!answer.contains("bob"), "\(answer)")
                #expect(!answer.contains("SECRET"), "\(answer)")
            }
        }

        private static func stream(of twin: Twin) async throws -> String {
            let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                .connect(host: "127.0.0.1", port: twin.hub.port) { channel in
                    channel.eventLoop.makeCompletedFuture {
                        try NIOAsyncChannel<ByteBuffer, ByteBuffer>(wrappingChannelSynchronously: channel)
                    }
                }
            return try await channel.executeThenClose { inbound, outbound in
                var parts = inbound.makeAsyncIterator()
                var found = ""
                /// Reads until so many events have come as a whole.
                func read(events count: Int) async throws {
                    while found.replacing(":\n\n", with: "").components(separatedBy: "\n\n").count - 1 < count {
                        found += String(buffer: try #require(try await parts.next()))
                        // What a stream says where nothing happens for a while, in a chunk of its own.
                        found = found.replacing("\r\n3\r\n:\n\n\r\n", with: "\r\n")
                    }
                }
                try await outbound.write(
                    ByteBuffer(
                        string: "GET /v1/changes?collection=notes HTTP/1.1\r\nHost: localhost\r\n"
                            + "Authorization: Bearer \(twin.ada)\r\nAccept: text/event-stream\r\n\r\n"))
                try await read(events: 1)
                try await twin.put("a", #"{"owner":"ada","n":101}"#)
                try await read(events: 2)
                try await twin.hide("b", n: 999)
                try await twin.hide("b", n: 999, "SECRET2")
                try await twin.put("c", #"{"owner":"ada","n":102}"#)
                try await read(events: 3)
                try await twin.put("mover", #"{"owner":"ada","n":103}"#)
                try await read(events: 4)
                // Out of sight, with what nobody who saw it is to see.
                try await twin.patch("mover", #"{"owner":"bob","secret":"SECRET"}"#)
                try await read(events: 5)
                if twin.hides { try await twin.patch("mover", #"{"n":999}"#) } else { try await twin.hide("x", n: 1) }
                try await twin.patch("mover", #"{"owner":"ada","n":104,"secret":"none"}"#)
                try await read(events: 6)
                try await twin.patch("mover", #"{"owner":"bob","secret":"SECRET"}"#)
                try await read(events: 7)
                let (collection, id) = twin.hides ? ("notes", "mover") : ("others", "x")
                for (collection, id) in [(collection, id), (twin.hides ? "notes" : "others", "b")] {
                    let path = "/v1/collections/\(collection)/documents/\(id)"
                    #expect(try await twin.hub.send(.DELETE, path, token: twin.full).status == 204)
                }
                try await twin.put("z", #"{"owner":"ada","n":105}"#)
                try await read(events: 8)
                // Behind the head of the answer, which has the date. The end of the last chunk may not have come yet.
                let body = found.range(of: "\r\n\r\n").map { String(found[$0.upperBound...]) } ?? ""
                return body.trimmingCharacters(in: .newlines)
            }
        }

        /// A device of ada's writes under ids that hidden documents have had, in ways that ask for what others have done to them.
        @Test("Producers learn nothing")
        func hiddenFromProducers() async throws {
            let answers = try await Self.compare { twin in
                let known = try await twin.head()
                var pusher = Pusher(twin: twin, line: try await twin.line())
                var answers = [try await twin.ask(.POST, "/v1/sync/hello", #"{"producer":"p","epoch":1}"#)]
                for id in ["x", "y", "z"] { try await twin.hideAndDelete(id) }
                // One at once, one after the other, and one that asks about a document that is there.
                answers.append(try await pusher.push([pusher.save("x", known, isConditional: false)]))
                answers.append(try await pusher.push([pusher.save("y", known)]))
                answers.append(try await pusher.push([pusher.patch("y", known)]))
                let both = [pusher.save("z", known), pusher.patch("z", known), pusher.save("nobody", known)]
                answers.append(try await pusher.push(both))
                let deletions = ["y", "z"].map { pusher.write(.delete, $0, known) }
                answers.append(try await pusher.push(deletions))
                try await twin.hideAndDelete("y")
                try await twin.hideAndDelete("z")
                answers.append(try await pusher.push([pusher.save("y", known), pusher.patch("y", known)]))
                answers.append(try await pusher.push([pusher.write(.delete, "z", known), pusher.patch("z", known)]))
                answers.append(try await pusher.push([pusher.save("z", known)]))
                // What she may know of is named.
                try await twin.patch("seed", #"{"n":101}"#)
                answers.append(try await pusher.push([pusher.patch("seed", known, isConditional: false)]))
                answers += try await pusher.pages(from: known)

                // A deletion that she may know of is no other one for what was hidden behind it.
                try await twin.put("seen", #"{"owner":"ada","n":1}"#)
                let seen = try await twin.head()
                let path = "/v1/collections/notes/documents/seen"
                #expect(try await twin.hub.send(.DELETE, path, token: twin.full).status == 204)
                try await twin.hideAndDelete("seen")
                for operation in [WriteOperation.delete, .save(["owner": .text(#""ada""#)]), .patch([:])] {
                    answers.append(try await pusher.push([pusher.write(operation, "seen", seen)]))
                }
                answers.append(try await twin.ask(.POST, "/v1/sync/hello", #"{"producer":"p","epoch":2}"#))
                return answers
            }
            #expect(answers.count { $0.contains("applied") } > 5)
            #expect(answers.contains { $0.contains("conflict") })
            #expect(answers.contains { $0.contains(#""others":"#) })
            for answer in answers {
                #expect(!answer.contains("bob"), "\(answer)")
                #expect(!answer.contains("SECRET"), "\(answer)")
            }
        }

        /// Ada's device.
        private struct Pusher: Sendable {
            let twin: Twin
            let line: String
            private(set) var number: Int64 = 0

            init(twin: Twin, line: String) { (self.twin, self.line) = (twin, line) }

            func write(
                _ operation: WriteOperation, _ id: String, _ base: Int64, isConditional: Bool = true
            ) -> HubWrite {
                HubWrite(
                    origin: 0, document: DocumentID(entity: "notes", id: id), operation: operation, base: base,
                    isConditional: isConditional)
            }

            func save(_ id: String, _ base: Int64, isConditional: Bool = true) -> HubWrite {
                let fields = ["owner": #""ada""#, "n": "1"].mapValues { StorageValue.text($0) }
                return write(.save(fields), id, base, isConditional: isConditional)
            }

            func patch(_ id: String, _ base: Int64, isConditional: Bool = true) -> HubWrite {
                write(.patch(["n": .text("2")]), id, base, isConditional: isConditional)
            }

            mutating func push(_ writes: [HubWrite]) async throws -> String {
                let first = number + 1
                number += Int64(writes.count)
                let numbered = zip(first..., writes).map { origin, write in
                    HubWrite(
                        origin: origin, document: write.document, operation: write.operation, base: write.base,
                        isConditional: write.isConditional)
                }
                let batch = HubBatch(
                    producer: ProducerID("p"), epoch: 1, line: try #require(Hexadecimal.bytes(line)),
                    firstNumber: first, writes: numbered)
                return try await twin.ask(.POST, "/v1/sync/push", String(decoding: batch.json, as: UTF8.self))
            }

            /// What one page has, from each position on, and the last change of each document where pages are small.
            func pages(from known: Int64) async throws -> [String] {
                let head = try await twin.head()
                let query = "collection=notes&producer=p&line=\(line)"
                var answers: [String] = []
                for start in known..<head {
                    // It ends before the head while the hub reads what was committed.
                    var answer: String
                    repeat {
                        answer = try await twin.ask(.GET, "/v1/changes?\(query)&after=\(start)")
                    } while !answer.contains(#""end":\#(head)"#)
                    answers.append(answer)
                }
                var (position, last) = (known, [String: RemoteChange]())
                while position < head {
                    let path = "/v1/changes?\(query)&limit=1&after=\(position)"
                    let answer = try await twin.hub.send(.GET, path, token: twin.ada)
                    let page = try HubPage(json: answer.body.utf8).page
                    for change in page.changes { last[change.document.id] = change }
                    position = page.end
                }
                // Whether one of these has both changes of it depends on how far the hub had read at once.
                last["seed"] = nil
                answers.append("\(last.sorted { $0.key < $1.key }.map { HiddenDocumentTests.text($0.value) })")
                return answers
            }
        }

        /// The one thing that can be found out, by trying: that an id, or a value of a unique column, is taken. Not by what.
        @Test("Collisions reveal that something is taken, and not by what")
        func hiddenCollisions() async throws {
            try await ServedHub.run { hub in
                let twin = try await Twin(hub, hides: true)
                try await twin.hide("b", n: 7)
                try await hub.storage.write { try $0.execute("CREATE UNIQUE INDEX notes_by_n ON notes(n)") }
                let path = "/v1/collections/notes/documents"
                let own = #"{"owner":"ada","n":8}"#
                func detail(_ answer: ServedHub.Answer) throws -> String {
                    try HubProblem(json: answer.body.utf8).detail
                }

                let taken = try await hub.send(.PUT, "\(path)/b", token: twin.ada, body: own)
                #expect(taken.status == 422)
                #expect(taken.code == "invalid")
                #expect(try detail(taken) == "Writing such a document to \"notes\" isn't allowed.")
                let foreign = try await hub.send(.PUT, "\(path)/new", token: twin.ada, body: #"{"owner":"eve"}"#)
                #expect(foreign.body == taken.body, "as if it was the document that isn't allowed")
                let absent = ["If-None-Match": "*"]
                let expected = try await hub.send(.PUT, "\(path)/b", token: twin.ada, body: own, headers: absent)
                #expect(expected.status == 412)
                let visible = try await hub.send(.PUT, "\(path)/seed", token: twin.ada, body: own, headers: absent)
                #expect(visible.body == expected.body)

                let value = try await hub.send(.PUT, "\(path)/new", token: twin.ada, body: #"{"owner":"ada","n":7}"#)
                #expect(value.status == 422)
                #expect(value.code == "invalid")
                #expect(
                    try detail(value) == "The store rejects it: it violates a constraint of the schema.")
                let seen = try await hub.send(.PUT, "\(path)/new", token: twin.ada, body: #"{"owner":"ada","n":100}"#)
                #expect(seen.body == value.body)
                #expect(try await hub.send(.PUT, "\(path)/new", token: twin.ada, body: own).status == 201)
            }
        }

        /// A migration takes away what a condition is about, while somebody follows.
        @Test("A stream ends where its condition no longer fits")
        func conditionWithoutColumn() async throws {
            try await ServedHub.run { hub in
                let twin = try await Twin(hub, hides: true)
                try await twin.hide("b", n: 1)
                var events = try await hub.events("/v1/changes?collection=notes", token: twin.ada)
                #expect(try await events.next()?.page.page.changes.map(\.document.id) == ["seed"])
                try await hub.storage.write { try $0.execute("ALTER TABLE notes RENAME COLUMN owner TO holder") }
                try await twin.put("c", #"{"holder":"ada","n":2}"#)
                let last = try #require(try await events.next())
                let problem = try HubProblem(json: last.data.utf8)
                #expect(last.name == "problem")
                #expect(problem.code == "unauthorized")
                #expect(problem.detail.contains("condition"))
                #expect(try await events.next() == nil)
                let again = try await hub.send(.GET, "/v1/changes?collection=notes", token: twin.ada)
                #expect(again.status == 401)
                #expect(again.body == last.data)
                let written = try await hub.send(
                    .PATCH, "/v1/collections/notes/documents/seed", token: twin.ada, body: #"{"n":3}"#)
                #expect(written.status == 401)
                #expect(written.body == last.data)
                #expect(try await hub.send(.GET, "/v1/changes?collection=notes", token: twin.full).status == 200)
            }
        }
    }
#endif
