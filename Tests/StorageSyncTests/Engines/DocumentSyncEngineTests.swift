import Foundation
import StorageSync
import Testing

/// What users of an engine of one document are promised.
@MainActor @Suite struct DocumentSyncEngineTests {
    private func engine(
        _ mock: MockRemoteDocumentService<Profile>, in container: PersistenceContainer
    ) -> DocumentSyncEngine<Profile> {
        withDatabaseContainer(container) { DocumentSyncEngine(remote: mock, managerKey: "user") }
    }

    @Test func aDocumentIsFollowed() async throws {
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
        #expect(engine.currentDocument == nil && mock.documents.isEmpty)
    }

    @Test func theIdAndTheDocumentSurviveARestart() async throws {
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

    @Test func otherDocumentsAreReadAndWrittenByTheirIds() async throws {
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

    @Test func aDocumentThatIsSavedBeforeItIsListenedToIsThere() async throws {
        let mock = MockRemoteDocumentService<Profile>(delay: .zero)
        let engine = engine(mock, in: try .inMemory())
        try await engine.saveDocument(Profile(id: "1", name: "Anna"))
        try await engine.startListening(documentId: "1")
        #expect(engine.currentDocument?.name == "Anna")
        try await eventually { engine.pendingCount == 0 }
        #expect(mock.documents.map(\.name) == ["Anna"])
        #expect(engine.currentDocument?.name == "Anna")
    }
}
