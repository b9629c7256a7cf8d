import Foundation
import StorageEntities
import StorageHistory
import StorageKit
import StorageMaintenance
import StorageTesting
import TestSupport
import Testing

/// Tags and notes are events like any other, and no data of users.
@Suite struct TagTests {
    @StorageEntity struct Item: Equatable {
        var id: Int
        var name: String
    }

    private func makeStore() throws -> TemporaryStore { try TemporaryStore { $0.autoSchema(ItemRecord.self) } }

    private func code(_ body: () async throws -> some Any) async -> StorageError.Code? {
        do {
            _ = try await body()
            return nil
        } catch {
            return (error as? StorageError)?.code
        }
    }

    @Test("A tag is accepted wherever a point is")
    func tagAsPoint() async throws {
        let store = try makeStore()
        let storage = store.storage
        try await storage.save(Item(id: 1, name: "a"))
        let first = storage.head
        try await storage.tag("start", note: "as it began", actor: "anna", reason: "for later")
        try await storage.tag("nothing", at: .position(0))
        try await storage.save([Item(id: 1, name: "b"), Item(id: 2, name: "c")])
        try await storage.tag("twice", at: .tag("start"))
        try await store.reopen()
        let again = store.storage
        let tags = try await again.tags()
        #expect(tags.map(\.name) == ["nothing", "start", "twice"])
        #expect(tags.map(\.position) == [0, first, first])
        #expect(tags[1].note == "as it began")
        #expect(tags[1].commit.metadata.actor == "anna")
        #expect(tags[1].commit.metadata.reason == "for later")
        let then = try await again.asOf(.tag("start"))
        #expect(then.position == first)
        #expect(try await then.all(Item.self) == [Item(id: 1, name: "a")])
        #expect(try await again.asOf(.position(first)).all(Item.self) == then.all(Item.self))
        #expect(try await again.asOf(.tag("nothing")).all(Item.self) == [])
        var changes: [String] = []
        for try await change in again.diff(from: .tag("start")) {
            changes.append("\(change.operation) \(change.table)")
        }
        #expect(changes.sorted() == ["insert items", "update items"])
        #expect(try await again.blame(Item.self, id: 1, at: .tag("start"))?.first?.field.value == .text("a"))
        try await again.restore(to: .tag("start"))
        #expect(try await again.all(Item.self) == [Item(id: 1, name: "a")])
        // Tags belong to no state of users' rows.
        #expect(try await again.tags() == tags)
        #expect(try await again.verify().isSound)
    }

    @Test("What can't be done is refused and changes nothing")
    func refusedTags() async throws {
        let store = try makeStore()
        let storage = store.storage
        try await storage.save(Item(id: 1, name: "a"))
        try await storage.tag("start")
        let head = storage.head
        #expect(await code { try await storage.tag("start", at: .position(0)) } == .conflict)
        #expect(await code { try await storage.tag("end", at: .position(999)) } == .notFound)
        #expect(await code { try await storage.tag("end", at: .tag("star")) } == .notFound)
        #expect(await code { try await storage.asOf(.tag("star")) } == .notFound)
        #expect(await code { try await storage.removeTag("star") } == .notFound)
        #expect(await code { try await storage.removeNote(at: .head) } == .notFound)
        #expect(await code { try await storage.note("", at: .head) } == .invalidValue)
        for name in [
            "", " ", "a b", "a\n", "a\u{0}", "a:b", "a~", "a..b", "a.", "-a", String(repeating: "é", count: 101),
        ] {
            #expect(await code { try await storage.tag(name) } == .invalidName, "\(name)")
        }
        #expect(storage.head == head)
        // What is like that already makes no event.
        #expect(try await storage.tag("start", at: .position(head - 1)).commit == nil)
        #expect(try await storage.tag("start").commit == nil)
        #expect(storage.head == head)
        let configuration = StorageConfig(isReadOnly: true)
        let reader = try StorageKit.start(at: store.url, config: configuration).facade
        #expect(try await reader.tags().map(\.name) == ["start"])
        #expect(await code { try await reader.tag("end") } == .readOnly)
        try await reader.close()
    }

    /// Tags and notes at the end of the log don't change what the head is to those who tag it.
    @Test("The head is that of the newest change", arguments: [1, 2, 3, 1_024])
    func headIgnoresTags(segmentLength: Int) async throws {
        var configuration = StorageConfig()
        configuration.segmentLength = segmentLength
        let storage = try StorageKit.inMemory(config: configuration) { $0.autoSchema(ItemRecord.self) }.facade
        try await storage.save([Item(id: 1, name: "a"), Item(id: 2, name: "a"), Item(id: 3, name: "a")])
        let head = storage.head
        for name in ["a", "b", "c"] {
            try await storage.tag(name)
            try await storage.note(name, at: .head)
            if name == "b" { try await storage.seal() }
        }
        #expect(try await storage.tags().map(\.position) == [head, head, head])
        #expect(try await storage.notes().map(\.position) == [head])
        #expect(storage.head == head + 6)
        // A commit counts to its end, whatever it ends with.
        let mixed = try await storage.write { tx in
            try tx.save(Item(id: 1, name: "b"))
            for number in 0..<4 { try tx.writer.enter(StorageOperation("test \(number)")) }
        }
        try await storage.tag("mixed")
        #expect(try await storage.tags().last?.position == mixed.last)
        let empty = try StorageKit.inMemory().facade
        try await empty.tag("nothing")
        #expect(try await empty.tags().map(\.position) == [0])
        #expect(try await storage.verify().isSound)
    }

    @Test("Names are equal where their bytes are")
    func namesCompareByBytes() async throws {
        let storage = try StorageKit.inMemory { $0.autoSchema(ItemRecord.self) }.facade
        let names = ["é", "e\u{301}", "Release", "release", "a/b", "🏷", "%", "'", "tag"]
        for (place, name) in names.enumerated() {
            try await storage.tag(name, at: .position(place % 2 == 0 ? 0 : 1))
        }
        let tags = try await storage.tags()
        #expect(Set(tags.map { Array($0.name.utf8) }) == Set(names.map { Array($0.utf8) }))
        for (place, name) in names.enumerated() {
            #expect(try await storage.asOf(.tag(name)).position == Int64(place % 2))
        }
    }

    @Test("The history of a tag is kept")
    func historyOfTag() async throws {
        let storage = try StorageKit.inMemory { $0.autoSchema(ItemRecord.self) }.facade
        try await storage.save(Item(id: 1, name: "a"))
        try await storage.tag("t", at: .position(1))
        try await storage.tag("t", at: .position(2), moving: true, actor: "ben")
        try await storage.tag("t", at: .position(2), note: "second")
        try await storage.removeTag("t", reason: "done")
        try await storage.tag("t", at: .position(0))
        let history = try await storage.history(ofTag: "t")
        #expect(history.map(\.operation) == [.insert, .update, .update, .delete, .insert])
        #expect(history[1].new?.map(\.column) == ["position"])
        #expect(history[1].commit.metadata.actor == "ben")
        #expect(history[2].new?.map(\.column) == ["note"])
        #expect(history[3].commit.metadata.reason == "done")
        #expect(try await storage.history(ofTag: "u") == [])
        // A note of its own can be taken away.
        try await storage.tag("t", at: .position(0), note: "x")
        try await storage.tag("t", at: .position(0), note: "")
        #expect(try await storage.tags().map(\.note) == [nil])
    }

    @Test("Readers of users' rows don't see tags")
    func changesOmitTags() async throws {
        let storage = try StorageKit.inMemory { $0.autoSchema(ItemRecord.self) }.facade
        try await storage.save(Item(id: 1, name: "a"))
        try await storage.tag("t")
        try await storage.note("n", at: .head)
        let page = try await storage.changes(since: .position(0), limit: 100)
        #expect(page.events.map(\.table) == ["items"])
        #expect(try await storage.logText() == ["insert items/1"])
        for try await change in storage.diff(from: .position(0)) { #expect(change.table == "items") }
        #expect(try await storage.asOf(.head).entities == ["items"])
        #expect(try await storage.asOf(.head, schema: .asRecorded).entities == ["items"])
        var query = LogQuery()
        query.includesSchema = true
        let tables = Set(try await storage.allEvents(query).map(\.table))
        #expect(tables == ["items", "storage_catalog", "storage_tag", "storage_note"])
        query = LogQuery()
        query.tables = ["storage_tag"]
        #expect(try await storage.allEvents(query).map(\.table) == ["storage_tag"])
    }

    /// Who presses undo means a change of data.
    @Test("Undo and redo skip tags, and revert reverts them")
    func undoSkipsTags() async throws {
        let storage = try StorageKit.inMemory { $0.autoSchema(ItemRecord.self) }.facade
        try await storage.save(Item(id: 1, name: "a"))
        try await storage.save(Item(id: 1, name: "b"))
        let tagged = try await storage.tag("t", note: "x")
        try await storage.note("n", at: .commit(2))
        try await storage.undo()
        #expect(try await storage.get(Item.self, id: 1)?.name == "a")
        #expect(try await storage.tags().map(\.name) == ["t"])
        try await storage.tag("u")
        try await storage.redo()
        #expect(try await storage.get(Item.self, id: 1)?.name == "b")
        let number = try #require(tagged.commit)
        let report = try await storage.revert(number)
        #expect(report.outcome.deleted == 1)
        #expect(try await storage.tags().map(\.name) == ["u"])
        try await storage.revert(try #require(report.receipt?.commit))
        #expect(try await storage.tags().map(\.name) == ["t", "u"])
        // A tag that was moved since isn't taken away in silence.
        try await storage.tag("t", at: .position(0), moving: true)
        #expect(await code { try await storage.revert(number) } == .conflict)
        #expect(try await storage.verify().isSound)
    }

    @Test("Damage to tags is found and repaired")
    func damagedTags() async throws {
        let store = try makeStore()
        try await store.storage.save(Item(id: 1, name: "a"))
        try await store.storage.tag("kept", note: "x")
        try await store.storage.tag("lost")
        try await store.storage.note("n", at: .commit(2))
        let (tags, notes) = (try await store.storage.tags(), try await store.storage.notes())
        try await store.storage.close()
        let foreign = try DatabaseQueue(path: store.url.path)
        try await foreign.write { db in
            try db.execute(sql: "UPDATE storage_tag SET position = 1, note = 'forged' WHERE name = 'kept'")
            try db.execute(sql: "DELETE FROM storage_tag WHERE name = 'lost'")
            try db.execute(sql: "INSERT INTO storage_note VALUES (77, 'forged', 1)")
        }
        try foreign.close()
        let storage = try StorageKit.start(at: store.url).facade
        let messages = try await storage.verify().findings.map(\.description)
        #expect(messages.contains { $0.contains("storage_tag") && $0.contains("kept differs") }, "\(messages)")
        #expect(messages.contains { $0.contains("storage_tag") && $0.contains("lost is missing") }, "\(messages)")
        #expect(messages.contains { $0.contains("storage_note") && $0.contains("77 isn't in the log") }, "\(messages)")
        for _ in 0..<2 {
            try await storage.rebuild()
            let report = try await storage.verify()
            #expect(report.isSound, "\(report.findings)")
            #expect(try await storage.tags() == tags)
            #expect(try await storage.notes() == notes)
        }
        // Capture goes on with the new tables.
        try await storage.tag("after", at: .tag("kept"))
        try await storage.removeTag("lost")
        #expect(try await storage.history(ofTag: "lost").count == 2)
        #expect(try await storage.verify().isSound)
        try await storage.close()
    }

    @Test("Concurrent tags are a commit each")
    func concurrentTags() async throws {
        let storage = try StorageKit.inMemory { $0.autoSchema(ItemRecord.self) }.facade
        try await withThrowingTaskGroup(of: CommitReceipt.self) { group in
            for number in 0..<40 {
                group.addTask { try await storage.tag("t\(number % 20)", at: .position(0)) }
                group.addTask { try await storage.save(Item(id: number, name: "x")) }
            }
            var commits: Set<Int64> = []
            for try await receipt in group { if let commit = receipt.commit { commits.insert(commit) } }
            #expect(commits.count == 60)
        }
        #expect(try await storage.tags().count == 20)
        #expect(try await storage.verify().isSound)
    }

    /// A dictionary is the model; the log folds to it however it is cut into rows.
    @Test("Tags equal what the log says", arguments: [1, 4, 1_024])
    func tagsEqualLog(segmentLength: Int) async throws {
        let seed = testSeeds(1)[0]
        var random = SplitMix64(seed: seed)
        var configuration = StorageConfig()
        configuration.segmentLength = segmentLength
        let store = try TemporaryStore(config: configuration) { $0.autoSchema(ItemRecord.self) }
        var tags: [String: (position: Int64, note: String?)] = [:]
        var notes: [Int64: String] = [:]
        for step in 0..<120 {
            let storage = store.storage
            let position = Int64.random(in: 0...storage.head, using: &random)
            let name = "t\(Int.random(in: 0..<6, using: &random))"
            switch Int.random(in: 0..<8, using: &random) {
            case 0: try await storage.save(Item(id: step % 7, name: "n\(step)"))
            case 1:
                let isThere = tags.removeValue(forKey: name) != nil
                #expect(await code { try await storage.removeTag(name) } == (isThere ? nil : .notFound))
            case 2:
                notes[position] = "n\(step)"
                try await storage.note("n\(step)", at: .position(position))
            case 3:
                let position = notes.keys.sorted().randomElement(using: &random) ?? position
                let isThere = notes.removeValue(forKey: position) != nil
                #expect(
                    await code { try await storage.removeNote(at: .position(position)) } == (isThere ? nil : .notFound))
            case 4: try await store.reopen()
            case 5: try await storage.seal()
            default:
                let note = [nil, "", "x", "y"].randomElement(using: &random) ?? nil
                let moves = Bool.random(using: &random)
                let known = tags[name]
                let isRefused = known != nil && known?.position != position && !moves
                #expect(
                    await code { try await storage.tag(name, at: .position(position), note: note, moving: moves) }
                        == (isRefused ? .conflict : nil))
                guard !isRefused else { break }
                tags[name] = (position, note.map { $0.isEmpty ? nil : $0 } ?? known?.note)
            }
        }
        for isRebuilt in [false, true] {
            if isRebuilt { try await store.storage.rebuild() }
            let found = try await store.storage.tags()
            #expect(found.map(\.name).sorted() == tags.keys.sorted(), "seed \(seed)")
            for tag in found {
                #expect(tag.position == tags[tag.name]?.position, "seed \(seed)")
                #expect(tag.note == tags[tag.name]?.note, "seed \(seed)")
            }
            #expect(
                found.map { "\($0.position) \($0.name)" }
                    == found.sorted {
                        ($0.position, $0.name) < ($1.position, $1.name)
                    }.map { "\($0.position) \($0.name)" })
            let written = try await store.storage.notes()
            #expect(Dictionary(uniqueKeysWithValues: written.map { ($0.position, $0.text) }) == notes, "seed \(seed)")
            let report = try await store.storage.verify()
            #expect(report.isSound, "seed \(seed): \(report.findings)")
        }
    }
}
