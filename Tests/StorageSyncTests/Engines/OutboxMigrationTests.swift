import Foundation
import StorageEntities
import StorageMaintenance
import TestSupport
import Testing

@testable import StorageSync

/// What isn't sent yet outlives a change of the schema: it is sent in the shape that the program knows then.
@MainActor @Suite struct OutboxMigrationTests {
    enum V1 {
        @StorageEntity(table: "people") struct Person: DataSyncModelProtocol, Equatable {
            var id: String
            var mail: String
            var age: String
            var fax: String?
        }
    }
    enum V2 {
        @StorageEntity(table: "people") struct Person: DataSyncModelProtocol, Equatable {
            var id: String
            var email: String
            var age: Int
            var city: String
            var note: String?
        }
    }

    private func engine<T: DataSyncModelProtocol>(
        _ container: PersistenceContainer, _ remote: any RemoteCollectionService<T>
    ) -> CollectionSyncEngine<T> {
        withDatabaseContainer(container) { makeEngine(remote) }
    }

    private func makeEngine<T: DataSyncModelProtocol>(
        _ remote: some RemoteCollectionService<T>
    ) -> CollectionSyncEngine<T> { CollectionSyncEngine(remote: remote, managerKey: "people") }

    private func openSecond(_ url: URL) throws -> PersistenceContainer {
        try .file(at: url) { schema in
            schema.renameColumn("mail", to: "email", in: "people")
            schema.convertColumn("age", of: "people", to: Int.self) { old in
                guard case .text(let text) = old, let age = Int64(text) else { return 0 }
                return .integer(age)
            }
            schema.dropColumn("fax", from: "people")
            schema.autoSchema(V2.PersonRecord.self)
        }
    }

    /// Leaves saves, changes, a deletion and a parked write behind that the remote hasn't taken.
    private func fillFirst(_ url: URL) async throws {
        let container = try PersistenceContainer.file(at: url) { $0.autoSchema(V1.PersonRecord.self) }
        let mock = MockRemoteCollectionService<V1.Person>(
            collection: ["b", "c", "d"].map { V1.Person(id: $0, mail: "\($0)@x", age: "1", fax: "0") }, delay: .zero)
        let remote = PickyRemote(mock)
        let engine = engine(container, remote)
        await engine.startListening()
        remote.errors = ["d": RemoteError.rejected("not today")]
        try await engine.updateDocument(id: "d", data: ["mail": "d@y"])
        try await eventually { engine.parked.count == 1 }
        remote.errors["z"] = RemoteError.unavailable(retryAfter: .seconds(600))
        try await engine.saveDocument(V1.Person(id: "z", mail: "z@x", age: "9", fax: nil))
        try await eventually { if case .waiting = engine.status.connection { true } else { false } }
        try await engine.saveDocument(V1.Person(id: "a", mail: "a@x", age: "41", fax: "1"))
        try await engine.updateDocument(id: "a", data: ["age": "42"])
        try await engine.updateDocument(id: "b", data: ["mail": "b@y"])
        try await engine.updateDocument(id: "b", data: ["fax": "2"])
        try await engine.updateDocument(id: "b", data: ["age": "7"])
        try await engine.deleteDocument(id: "c")
        try await container.storage.write { tx in
            try tx.save((0..<300).map { V1.Person(id: "p\($0)", mail: "\($0)", age: "\($0)", fax: nil) })
        }
        try await eventually { engine.pendingCount == 308 }
        try await container.storage.close()
    }

    @Test("A full outbox is sent in the new schema")
    func outboxAfterMigration() async throws {
        try await withTemporaryFolder { folder in
            let url = folder.appendingPathComponent("people.sqlite")
            try await fillFirst(url)
            let mock = MockRemoteCollectionService<V2.Person>(
                collection: ["b", "c", "d"].map {
                    V2.Person(id: $0, email: "\($0)@x", age: 1, city: "Lviv", note: "remote")
                }, delay: .zero)
            let container = try openSecond(url)
            let engine = engine(container, mock)
            #expect(engine.getDocument(id: "a") == V2.Person(id: "a", email: "a@x", age: 42, city: "", note: nil))
            await engine.startListening()
            // What is parked, and the conversion behind it, which changes nothing of what is sent.
            try await eventually { engine.pendingCount == 2 }
            #expect(
                mock.writes.prefix(4) == [
                    .save(V2.Person(id: "z", email: "z@x", age: 9, city: "", note: nil)),
                    .save(V2.Person(id: "a", email: "a@x", age: 42, city: "", note: nil)),
                    .update(id: "b", fields: ["age", "email"]), .delete(id: "c"),
                ])
            #expect(mock.collection.count == 304)
            #expect(
                mock.collection.first { $0.id == "b" }
                    == V2.Person(id: "b", email: "b@y", age: 7, city: "Lviv", note: "remote"))
            // What was parked can be sent too.
            try await engine.retry(try #require(engine.parked.first))
            try await engine.settled()
            #expect(mock.collection.first { $0.id == "d" }?.email == "d@y")
            try await eventually { engine.currentCollection == mock.collection.sorted { $0.id < $1.id } }
            #expect(try await container.storage.verify().isSound)
            try await container.storage.close()
        }
    }

    /// Two programs of which one knows a field more: neither takes away what only the other knows.
    @Test("Clients of different versions keep each other's fields")
    func clientsOfDifferentVersions() async throws {
        let service = JSONService()
        let old = try PersistenceContainer.inMemory { $0.autoSchema(Plain.NoteRecord.self) }
        let new = try PersistenceContainer.inMemory { $0.autoSchema(Rich.NoteRecord.self) }
        let first: CollectionSyncEngine<Plain.Note> = engine(old, JSONRemote(service: service))
        let second: CollectionSyncEngine<Rich.Note> = engine(new, JSONRemote(service: service))
        await first.startListening()
        await second.startListening()
        try await second.saveDocument(Rich.Note(id: "a", text: "one", color: "red")).confirmed()
        try await eventually { first.getDocument(id: "a") == Plain.Note(id: "a", text: "one") }
        try await first.updateDocument(id: "a", data: ["text": "two"]).confirmed()
        try await first.saveDocument(Plain.Note(id: "a", text: "three")).confirmed()
        try await eventually { second.getDocument(id: "a") == Rich.Note(id: "a", text: "three", color: "red") }
        try await first.saveDocument(Plain.Note(id: "b", text: "plain")).confirmed()
        try await eventually { second.getDocument(id: "b") == Rich.Note(id: "b", text: "plain", color: nil) }
        try await second.updateDocument(id: "b", data: ["color": "blue"]).confirmed()
        #expect(
            service.documents["b"] == .object(["id": .string("b"), "text": .string("plain"), "color": .string("blue")]))
        #expect(first.pendingCount == 0)
        #expect(second.pendingCount == 0)
    }

    enum Plain {
        @StorageEntity(table: "notes") struct Note: DataSyncModelProtocol, Equatable {
            var id: String
            var text: String
        }
    }
    enum Rich {
        @StorageEntity(table: "notes") struct Note: DataSyncModelProtocol, Equatable {
            var id: String
            var text: String
            var color: String?
        }
    }
}

/// Documents of any shape, and those who listen to them.
@MainActor
private final class JSONService {
    var documents: [String: JSONValue] = [:]
    private var listeners: [AsyncStream<String>.Continuation] = []

    func set(_ id: String, _ document: JSONValue?) {
        documents[id] = document
        for listener in listeners { listener.yield(id) }
    }

    /// Ids of documents that change.
    func changes() -> AsyncStream<String> {
        let (stream, continuation) = AsyncStream<String>.makeStream()
        listeners.append(continuation)
        return stream
    }
}

/// What a program of one version sees of it.
@MainActor
private struct JSONRemote<T: DataSyncModelProtocol>: RemoteCollectionService {
    let service: JSONService

    func getCollection() async throws -> [T] { try service.documents.values.map { try $0.decoded() } }
    func getDocuments(query: QueryBuilder) async throws -> [T] { try await getCollection() }
    func getDocument(id: String) async throws -> T {
        guard let document = service.documents[id] else { throw RemoteError.notFound }
        return try document.decoded()
    }
    func saveDocument(_ model: T) async throws { service.set(model.id, try JSONValue(encoding: model)) }
    func updateDocument(id: String, data: [String: any DMCodableSendable]) async throws {
        guard case .object(var fields)? = service.documents[id] else { throw RemoteError.notFound }
        for (name, value) in data {
            let json = try JSONValue(encoding: value)
            fields[name] = json == .null ? nil : json
        }
        service.set(id, .object(fields))
    }
    func deleteDocument(id: String) async throws { service.set(id, nil) }
    func streamDocument(id: String) -> AsyncThrowingStream<T?, any Error> { AsyncThrowingStream { _ in } }
    func streamCollectionUpdates() -> (
        updates: AsyncThrowingStream<T, any Error>, deletions: AsyncThrowingStream<String, any Error>
    ) {
        let changes = service.changes()
        let updates = AsyncThrowingStream<T, any Error> { continuation in
            let task = Task { @MainActor in
                for await id in changes {
                    if let document: T = try? service.documents[id]?.decoded() { continuation.yield(document) }
                }
            }
            continuation.onTermination = { _ in task.cancel() }
        }
        return (updates, AsyncThrowingStream { _ in })
    }
}
