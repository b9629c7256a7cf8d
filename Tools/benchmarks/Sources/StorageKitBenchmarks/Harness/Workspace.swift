import Foundation

/// Where one run of a contender keeps its files.
struct Workspace {
    /// Empty, for this run only.
    let directory: URL
    /// Kept for all runs: for stores that take long to build and are only read.
    let shared: URL

    /// A path in the run's own directory.
    func path(_ name: String) -> String {
        directory.appendingPathComponent(name).path
    }

    /// The path of a copy, in the run's own directory, of a closed store.
    func copy(of store: String) throws -> String {
        let copy = path("storage.sqlite")
        try FileManager.default.copyItem(atPath: store, toPath: copy)
        return copy
    }

    /// The directory of a store that all runs share, built the first time it is asked for. It is built under
    /// another name, so that what an interrupted run leaves is never mistaken for the whole.
    func sharedDirectory(_ name: String, build: (URL) async throws -> Void) async throws -> URL {
        let files = FileManager.default
        let finished = shared.appendingPathComponent(name, isDirectory: true)
        if files.fileExists(atPath: finished.path) { return finished }
        let unfinished = shared.appendingPathComponent(name + ".unfinished", isDirectory: true)
        if files.fileExists(atPath: unfinished.path) { try files.removeItem(at: unfinished) }
        try files.createDirectory(at: unfinished, withIntermediateDirectories: true)
        try await build(unfinished)
        try files.moveItem(at: unfinished, to: finished)
        return finished
    }
}
