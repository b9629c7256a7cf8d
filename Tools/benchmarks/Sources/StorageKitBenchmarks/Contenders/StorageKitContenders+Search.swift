import Foundation
import StorageKit

/// Documents and searches, by StorageKit.
extension StorageKitContenders {
    static func insert(_ batches: DocumentBatches) -> [Contender] {
        [
            inserter(ContenderName.storageKitWithoutIndex, batches, isIndexed: false),
            inserter(ContenderName.storageKit, batches, isIndexed: true),
        ]
    }

    static func search(_ searches: DocumentSearches) -> [Contender] {
        [
            searcher(searches) { storage, text in
                try await storage.search(StoredDocument.self, query: text, limit: searches.limit).count
            }
        ]
    }

    static func searchWithSnippets(_ searches: DocumentSearches) -> [Contender] {
        [
            searcher(searches) { storage, text in
                try await storage.search(
                    StoredDocument.self, query: text, limit: searches.limit, excerpt: .snippet()
                ).count { $0.snippet != nil }
            }
        ]
    }

    private static func inserter(_ name: String, _ batches: DocumentBatches, isIndexed: Bool) -> Contender {
        Contender(
            name,
            prepare: { workspace in
                let storage = try StorageKitStore.documents(workspace, isIndexed: isIndexed)
                try await storage.save(batches.before.map(StoredDocument.init))
                try await storage.seal()
                return storage
            },
            run: { storage in
                for documents in batches.commits { try await storage.save(documents.map(StoredDocument.init)) }
                // Work that would be put off to the background.
                try await storage.seal()
                return []
            },
            cleanup: { storage in
                let matches =
                    isIndexed ? try await storage.searchCount(StoredDocument.self, query: batches.probe) : nil
                try batches.check(name, rows: try await storage.count(StoredDocument.self), matches: matches)
                try await storage.close()
            })
    }

    private static func searcher(
        _ searches: DocumentSearches, search: @escaping @Sendable (Storage, String) async throws -> Int
    ) -> Contender {
        Contender(
            ContenderName.storageKit,
            prepare: { workspace in
                let storage = try StorageKitStore.documents(workspace, isIndexed: true)
                try await storage.save(searches.documents.map(StoredDocument.init))
                // Sealing in the background would be measured along.
                try await storage.seal()
                return storage
            },
            run: { storage in
                var found = 0
                for text in searches.texts { found += try await search(storage, text) }
                try searches.check(ContenderName.storageKit, found)
                return []
            },
            cleanup: { try await $0.close() })
    }
}

/// The document as an entity of StorageKit, with `updatedAt` kept by it.
@StorageEntity(table: "documents")
struct StoredDocument {
    var id: String
    var title: String
    var body: String
}

extension StoredDocument {
    init(_ document: Document) {
        self.init(id: document.id, title: document.title, body: document.body)
    }
}

extension StorageKitStore {
    fileprivate static func documents(_ workspace: Workspace, isIndexed: Bool) throws -> Storage {
        let url = URL(fileURLWithPath: workspace.path("storage.sqlite"))
        return try StorageKit.start(at: url) { schema in
            schema.autoSchema(StoredDocumentRecord.self)
            if isIndexed { schema.addFullTextSearch(table: "documents", columns: ["title", "body"]) }
        }.facade
    }
}
