internal import Foundation

/// The file beside a store in which the tables of a program's projection are made again, so that a rebuild that was
/// interrupted is gone on with.
///
/// Isolation: `Sendable`; it is a name.
package struct FoldFile: Sendable {
    private static let infix = ".fold-"
    private static let sidecars = ["", "-wal", "-shm"]
    /// Apart from letters that some file systems take for each other.
    private static let plain = CharacterSet(charactersIn: "abcdefghijklmnopqrstuvwxyz0123456789_")

    package let path: String

    /// nil where the projection has too long a name for a file.
    package init?(store: String, projection: String) {
        guard let name = projection.addingPercentEncoding(withAllowedCharacters: Self.plain), name.utf8.count <= 150
        else { return nil }
        path = store + Self.infix + name
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
        for name in projections(besides: store) { FoldFile(store: store, projection: name)?.remove() }
    }
}
