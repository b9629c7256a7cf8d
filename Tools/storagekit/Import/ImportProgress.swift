import Foundation
import StorageKit

/// The progress of an input's import, stored in the same transaction as its rows, so that a second run resumes where the first one stopped, and a
/// third does nothing.
///
/// An input is identified by its bytes: by its first line, then by a hash of everything that was imported.
struct ImportProgress {
    /// The input's identity: the hash of its first line.
    var source: String
    var bytes = 0
    var lines = 0
    var hash: UInt64 = 0

    private var text: String { "\(bytes) \(lines) \(hash)" }

    static func load(_ source: String, _ writer: LogWriter) throws -> ImportProgress? {
        let select = try writer.statement("SELECT progress FROM storage_import WHERE source = ?")
        defer { select.reset() }
        select.bind(text: source, at: 1)
        guard try select.step() else { return nil }
        let parts = select.string(0).split(separator: " ")
        guard parts.count == 3, let bytes = Int(parts[0]), let lines = Int(parts[1]), let hash = UInt64(parts[2]) else {
            return nil
        }
        return ImportProgress(source: source, bytes: bytes, lines: lines, hash: hash)
    }

    func store(_ writer: LogWriter) throws {
        let insert = try writer.statement("INSERT OR REPLACE INTO storage_import(source, progress) VALUES (?, ?)")
        insert.bind(text: source, at: 1)
        insert.bind(text: text, at: 2)
        try insert.execute()
    }
}
