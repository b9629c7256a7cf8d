import Foundation
import PredicateTestSupport
import StorageSync
import TestSupport
import Testing

/// What users of an engine of one document are promised.
@MainActor @Suite struct DocumentSyncEngineTests {
    private func engine(
        _ mock: MockRemoteDocumentService<Profile>, in container: PersistenceContainer
    ) -> DocumentSyncEngine<Profile> {
        withDatabaseContainer(container) { DocumentSyncEngine(remote: mock, managerKey: "user") }
    }

    @Test("A document is followed")
    func followingDocument() async throws {
        let mock = MockRemoteDocumentService(document: Profile(id: "1", name: "Anna"), delay: .zero)
        let engine = engine(mock, in: try .inMemory())
        #expect(engine.currentDocument == nil)
        #expect(throws: StorageError.self) { try engine.getDocumentId() }
        #expect(throws: StorageError.self) { try engine.getDocumentOrThrow() }
        try await engine.startListening(documentId: "1")
        #expect(try engine.getDocumentOrThrow() == Profile(id: "1", name: "Anna"))
        #expect(try engine.getDocumentId() == "1")
        mock.change(Profile(id: "1", name: "Anne"))
        try await eventually { engine.getDocument()?.name == "Anne" }
        try await engine.updateDocument(data: ["name": "John"]).confirmed()
        #expect(mock.writes == [.update(id: "1", fields: ["name"])])
        #expect(engine.currentDocument?.name == "John")
        try await engine.deleteDocument()?.confirmed()
        #expect(engine.currentDocument == nil)
        #expect(mock.documents.isEmpty)
    }

    @Test("The id and the document survive a restart")
    func documentSurvivesRestart() async throws {
        try await withTemporaryFolder { folder in
            let url = folder.appendingPathComponent("user.sqlite")
            let mock = MockRemoteDocumentService(document: Profile(id: "1", name: "Anna"), delay: .zero)
            do {
                let container = try PersistenceContainer.file(at: url)
                try await engine(mock, in: container).startListening(documentId: "1")
                try await container.storage.close()
            }
            mock.failure = RemoteError.unavailable()
            let container = try PersistenceContainer.file(at: url)
            let engine = engine(mock, in: container)
            #expect(try engine.getDocumentId() == "1")
            #expect(engine.currentDocument?.name == "Anna")
            try await engine.updateDocument(data: ["name": "John"])
            #expect(engine.currentDocument?.name == "John")
            mock.failure = nil
            try await engine.startListening(documentId: "1")
            try await eventually { mock.documents.map(\.name) == ["John"] && engine.pendingCount == 0 }
            engine.stopListening()
            #expect(engine.currentDocument == nil)
            #expect(throws: StorageError.self) { try engine.getDocumentId() }
            try await eventually {
                try await container.storage.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM sync_documents") }
                    == 0
            }
            #expect(mock.documents.count == 1)
            try await container.storage.close()
        }
    }

    @Test("Other documents are read and written by their ids")
    func otherDocumentsById() async throws {
        let mock = MockRemoteDocumentService(document: Profile(id: "1", name: "Anna"), delay: .zero)
        mock.change(Profile(id: "2", name: "Berta"))
        let engine = engine(mock, in: try .inMemory())
        #expect(try await engine.getDocumentAsync(id: "2").name == "Berta")
        try await engine.updateDocument(id: "2", data: ["name": "Bert"]).confirmed()
        try await engine.saveDocument(Profile(id: "3", name: "Carl")).confirmed()
        try await engine.deleteDocument(id: "1")?.confirmed()
        #expect(mock.documents.map(\.name).sorted() == ["Bert", "Carl"])
        #expect(engine.currentDocument == nil)
        try await engine.startListening(documentId: "2")
        #expect(engine.currentDocument?.name == "Bert")
        try await engine.startListening(documentId: "3")
        #expect(engine.currentDocument?.name == "Carl")
        await #expect(throws: RemoteError.notFound) { try await engine.getDocumentAsync(id: "4") }
    }

    @Test("A document that is saved before listening is there")
    func savedBeforeListening() async throws {
        let mock = MockRemoteDocumentService<Profile>(delay: .zero)
        let engine = engine(mock, in: try .inMemory())
        try await engine.saveDocument(Profile(id: "1", name: "Anna"))
        try await engine.startListening(documentId: "1")
        #expect(engine.currentDocument?.name == "Anna")
        try await eventually { engine.pendingCount == 0 }
        #expect(mock.documents.map(\.name) == ["Anna"])
        #expect(engine.currentDocument?.name == "Anna")
    }

    /// Views read the document at any time: also between two steps of listening to another one.
    @Test("Reading while listening begins doesn't change which document it is")
    func readingWhileListeningBegins() async throws {
        var reads = 0
        for call in 1... {
            let reader = Reader(call: call)
            let mock = MockRemoteDocumentService(
                document: Profile(id: "2", name: "Berta"),
                collectionPath: {
                    reader.pathIsAsked()
                    return ""
                }, delay: .zero)
            let engine = engine(mock, in: try .inMemory())
            reader.engine = engine
            try await engine.saveDocument(Profile(id: "1", name: "Anna")).confirmed()
            for (id, name) in [("1", "Anna"), ("2", "Berta"), ("1", "Anna")] {
                try await engine.startListening(documentId: id)
                #expect(engine.currentDocument?.name == name, "read at call \(call)")
                #expect(try engine.getDocumentId() == id, "read at call \(call)")
            }
            mock.change(Profile(id: "1", name: "Anne"))
            try await eventually { engine.currentDocument?.name == "Anne" }
            guard reader.hasRead else { break }
            reads += 1
        }
        #expect(reads > 20)
    }

    /// Reads the document once, at one of the times when the engine asks for the path.
    @MainActor
    private final class Reader {
        weak var engine: DocumentSyncEngine<Profile>?
        private var callsLeft: Int
        private(set) var hasRead = false

        init(call: Int) { callsLeft = call }

        func pathIsAsked() {
            guard let engine else { return }
            callsLeft -= 1
            guard callsLeft == 0 else { return }
            hasRead = true
            _ = engine.currentDocument
        }
    }

    /// Listens to one document and another, stops and writes, while the document is read all the time.
    @Test("The shown document is the one that is listened to", arguments: testSeeds(5))
    func shownDocumentIsListenedTo(seed: UInt64) async throws {
        var random = PredicateGenerator(seed: seed)
        let mock = MockRemoteDocumentService<Profile>(delay: .zero)
        let ids = ["1", "2", "3"]
        for id in ids { mock.change(Profile(id: id, name: "first")) }
        let engine = engine(mock, in: try .inMemory())
        let reader = Task { @MainActor [weak engine] in
            while !Task.isCancelled {
                _ = engine?.currentDocument
                await Task.yield()
            }
        }
        defer { reader.cancel() }
        for step in 0..<40 {
            let id = ids[Int.random(in: 0..<3, using: &random)]
            switch Int.random(in: 0..<5, using: &random) {
            case 0: try await engine.saveDocument(Profile(id: id, name: "saved \(step)"))
            case 1: mock.change(Profile(id: id, name: "changed \(step)"))
            case 2:
                engine.stopListening(clearCaches: true)
                for _ in 0..<Int.random(in: 0..<30, using: &random) {
                    try #require(engine.currentDocument == nil, "seed \(seed), step \(step)")
                    await Task.yield()
                }
            case 3: engine.stopListening(clearCaches: false)
            default:
                try await engine.startListening(documentId: id)
                #expect(engine.currentDocument?.id == id, "seed \(seed), step \(step)")
                #expect(try engine.getDocumentId() == id, "seed \(seed), step \(step)")
            }
        }
        for id in ids {
            try await engine.startListening(documentId: id)
            mock.change(Profile(id: id, name: "last"))
            try await eventually { engine.currentDocument == Profile(id: id, name: "last") && engine.pendingCount == 0 }
        }
    }
}
