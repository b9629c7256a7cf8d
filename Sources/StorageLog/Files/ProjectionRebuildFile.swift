internal import Foundation

/// The file beside a store in which the tables of a program's projection are rebuilt, so that an interrupted rebuild can be
/// resumed.
///
/// Isolation: `Sendable`; it is only a name.
package struct ProjectionRebuildFile: Sendable {
    private static let infix = ".fold-"
    private static let sidecars = ["", "-wal", "-shm"]
    /// Without letters that some file systems treat as equal.
    private static let plain = CharacterSet(charactersIn: "abcdefghijklmnopqrstuvwxyz0123456789_")

    package let path: String
    private let store: String

    /// nil if the projection's name is too long for a file name.
    package init?(store: String, projection: String) {
        guard let name = projection.addingPercentEncoding(withAllowedCharacters: Self.plain), name.utf8.count <= 150
        else { return nil }
        self.store = store
        path = store + Self.infix + name
    }

    /// Creates the file again, empty and readable only by users who may read the store.
    package func create() {
        remove()
        // If it can't be created, opening it reports why.
        _ = StoredFile.create(path, like: store)
    }

    package func remove() { for suffix in Self.sidecars { unlink(path + suffix) } }

    /// The projections whose rebuild was interrupted.
    package static func projections(besides store: String) -> [String] {
        let url = URL(fileURLWithPath: store)
        let prefix = url.lastPathComponent + infix
        let files = (try? FileManager.default.contentsOfDirectory(atPath: url.deletingLastPathComponent().path)) ?? []
        return files.filter { $0.hasPrefix(prefix) && !$0.hasSuffix("-wal") && !$0.hasSuffix("-shm") }
            .compactMap { $0.dropFirst(prefix.count).removingPercentEncoding }.sorted()
    }

    package static func removeAll(besides store: String) {
        for name in projections(besides: store) { ProjectionRebuildFile(store: store, projection: name)?.remove() }
    }
}
