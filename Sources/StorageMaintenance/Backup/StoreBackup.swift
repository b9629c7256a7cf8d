internal import CSQLite
public import Foundation
internal import GRDB
internal import StorageCore
package import StorageLog

/// A whole copy of a store, made while it is in use.
///
/// ```swift
/// let backup = try await storage.backup(to: folder.appending(path: "monday.sqlite"))
/// print(backup.path, backup.bytes, backup.date.formatted(), backup.isVerified)
/// ```
public struct StoreBackup: Sendable, Hashable {
    /// The file.
    public let path: String
    /// The last position in the copy; 0 in an empty store.
    public let position: Int64
    /// The number of the last commit in the copy; 0 in an empty store.
    public let commit: Int64
    /// The time of the last commit, in microseconds since 1970 UTC.
    public let time: Int64
    /// The size of the file, in bytes.
    public let bytes: Int64
    /// Whether the copy was checked against its log.
    public let isVerified: Bool

    /// When the last commit that the copy holds was made.
    public var date: Date { Date(microseconds: time) }
}

extension StorageEngine {
    /// Copies the store in its current state, page by page, while others continue to write.
    ///
    /// The file gets its name once it is complete, durable and, if requested, verified.
    package func backup(
        to path: String, replacing: Bool, verifying: Bool,
        progress: @escaping @Sendable (_ stage: String, _ done: Int, _ all: Int) -> Void = { _, _, _ in }
    ) async throws -> StoreBackup {
        try checkIsAnotherFile(path)
        let placement = try FilePlacement(path, replacing: replacing, like: self.path)
        let end = verifying ? acknowledgedEnd() : nil
        do {
            let head = try await read { db in
                let source = try db.connection
                let head = try LogHead.load(source)
                try DatabaseFile(placement.partial, .making).with {
                    try DatabaseFile.copy(source, into: $0) { progress("copy", $0, $1) }
                }
                // Its write-ahead log goes when it is closed.
                try DatabaseFile(placement.partial, .owning).with {
                    try StoreLineage.begin(after: head.position, in: $0)
                }
                return head
            }
            if let loss = try end?.losses(head: head.position).first(where: \.isDamage) { throw StorageError(loss) }
            if verifying { try StoreBackup.verify(placement.partial) { progress("verify", $0, $1) } }
            try placement.place()
            return StoreBackup(
                path: placement.destination, position: head.position, commit: head.commit, time: head.time,
                bytes: StoreBackup.size(of: placement.destination), isVerified: verifying)
        } catch {
            placement.discard()
            throw error
        }
    }

    /// What ``backup(to:replacing:verifying:progress:)`` would copy now: the same result, without creating a file.
    package func planBackup(to path: String, replacing: Bool) async throws -> StoreBackup {
        try checkIsAnotherFile(path)
        try FilePlacement.check(path, replacing: replacing)
        let head = try await read { db in
            let source = try db.connection
            return try LogHead.load(source)
        }
        return StoreBackup(
            path: path, position: head.position, commit: head.commit, time: head.time,
            bytes: StoreBackup.size(of: self.path), isVerified: false)
    }

    private func checkIsAnotherFile(_ other: String) throws {
        try FilePlacement.check(other, isNot: path)
    }
}

extension StoreBackup {
    /// Checks a store that no process writes to.
    ///
    /// - Throws: `corrupt` with the first difference; an error that kept the check from completing.
    static func verify(
        _ path: String, name: String = "copy",
        remedy: String =
            "The store itself is damaged. Type: storagekit verify. A copy of it as it is: --no-verify.",
        progress: @escaping (Int, Int) -> Void
    ) throws {
        guard let finding = try firstFinding(in: path, progress: progress) else { return }
        throw StorageError(.corrupt, "The \(name) isn't sound: \(finding)", remedy: remedy)
    }

    /// Checks a store that no process writes to.
    ///
    /// - Returns: The first difference; nil if it is sound.
    static func firstFinding(in path: String, progress: @escaping (Int, Int) -> Void) throws -> VerifyReport.Finding? {
        try DatabaseFile(path, .unchanging).with { connection in
            var verifier = Verifier(connection) { progress(Int($0), Int($1)) }
            return try verifier.run().findings.first
        }
    }

    static func size(of path: String) -> Int64 {
        let attributes = try? FileManager.default.attributesOfItem(atPath: path)
        return (attributes?[.size] as? NSNumber)?.int64Value ?? 0
    }
}
