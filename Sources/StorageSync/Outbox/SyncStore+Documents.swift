internal import Foundation
internal import GRDB
internal import StorageCore
internal import StorageKit
internal import StorageLog

/// Reads the documents that an engine shows.
extension SyncStore {
    /// Why a document can't be stored as a row; nil if it can.
    func unreadable(_ id: String) async throws -> String? {
        try await storage.engine.read { try bases.unreadableReason(of: id, in: $0) }
    }

    /// Whether the table contains the documents of this path.
    func isActive(in db: Database) throws -> Bool {
        try SyncRemoteRow.all(of: manager, in: db).contains { $0.path == path && $0.isActive }
    }

    /// Which documents an engine shows.
    enum Extent: Sendable, Equatable {
        case all
        case document(String?)
    }

    /// What an engine shows before its first use, read on the calling thread; nil if the store has nothing for this
    /// path.
    ///
    /// - Parameter extent: If it names no document, the one that was last listened to.
    func shownNow(_ extent: Extent) throws -> (extent: Extent, documents: [T])? {
        try storage.engine.readNow { db in
            guard let row = try SyncRemoteRow.all(of: manager, in: db).first(where: { $0.path == path }), row.isActive
            else { return nil }
            let extent = extent == .document(nil) ? Extent.document(row.document) : extent
            return (extent, try documents(extent, db))
        }
    }

    /// What an engine shows, and the log position as of which it was read.
    func shown(_ extent: Extent) async throws -> (documents: [T], head: Int64) {
        try await storage.engine.read { db in
            let connection = try db.connection
            return (try documents(extent, db), try LogReader(connection).head().position)
        }
    }

    func documents(_ extent: Extent, _ db: Database) throws -> [T] {
        switch extent {
        case .all: try table.all(db)
        case .document(let id): try id.flatMap { try table.get($0, db) }.map { [$0] } ?? []
        }
    }

    /// Whether there is a document, also one that can't be read or stored as a row.
    func contains(_ id: String) async throws -> Bool {
        try await storage.engine.read { try table.contains(id, $0) || bases.unreadableReason(of: id, in: $0) != nil }
    }

    /// Whether the table has exactly this document; nil means none.
    func shows(_ document: DocumentFields?, as id: String, in db: Database) throws -> Bool {
        do {
            return try table.get(id, db).map { try DocumentFields(encoding: $0) } == document
        } catch let error as StorageError where error.code == .invalidValue {
            // It can't be written as JSON, so it isn't what the remote has.
            return false
        }
    }

    /// A document by its id; nil if there is none.
    func document(_ id: String) async throws -> T? { try await storage.engine.read { try table.get(id, $0) } }

    /// Some documents by their ids, and the log position as of which they were read. Leaves out rows that can't be read:
    /// one of them keeps no others from being shown.
    func shown(_ ids: [String]) async throws -> (documents: [(id: String, document: T?)], head: Int64) {
        try await storage.engine.read { db in
            let connection = try db.connection
            var documents: [(id: String, document: T?)] = []
            for id in ids {
                do {
                    documents.append((id, try table.get(id, db)))
                } catch let error as StorageError where error.code == .invalidValue {
                    continue
                }
            }
            return (documents, try LogReader(connection).head().position)
        }
    }
}
