import Foundation
import StorageKit
import TestSupport
import Testing

/// Tests that open one file with one schema after another, as the versions of a program do.
protocol SchemaVersionSuite {
    var folder: TemporaryFolder { get }
}

extension SchemaVersionSuite {
    var url: URL { folder.url.appending(path: "a.sqlite") }

    func open(_ declare: (inout Schema) throws -> Void) throws -> Storage {
        try StorageKit.start(at: url, declare).facade
    }

    /// The error of a schema that doesn't fit the file.
    func refusal(
        sourceLocation: SourceLocation = #_sourceLocation, _ declare: @escaping (inout Schema) throws -> Void
    ) -> StorageError? {
        let error = #expect(throws: StorageError.self, sourceLocation: sourceLocation) { try open(declare) }
        return error
    }

    /// Makes a store of entities whose table is all that it declares.
    ///
    /// - Returns: Its head.
    @discardableResult
    func fill<Entity: RegisteredEntity>(_ entities: Entity...) async throws -> Int64 {
        let storage = try open { $0.autoSchema(Entity.Record.self) }
        try await storage.save(entities)
        let head = storage.head
        try await storage.close()
        return head
    }
}
