import Foundation

/// The command-line tool, built in release mode.
struct StorageKitTool {
    let url: URL

    /// The tool named by STORAGEKIT_TOOL, or the one that the root package has built; nil where there is none.
    static var found: StorageKitTool? {
        let path = ProcessInfo.processInfo.environment["STORAGEKIT_TOOL"] ?? "../../.build/release/storagekit"
        guard FileManager.default.isExecutableFile(atPath: path) else { return nil }
        return StorageKitTool(url: URL(fileURLWithPath: path))
    }

    /// A store with a history in it; nil where there is no tool to import it.
    static func importedStore(of history: HistoryFile, in workspace: Workspace) async throws -> String? {
        guard let tool = found else { return nil }
        let folder = try await workspace.sharedDirectory("history-\(history.name)") { folder in
            let store = folder.appendingPathComponent("storage.sqlite").path
            try tool.run(["import", "--quiet", "-s", store, history.source.path])
        }
        return folder.appendingPathComponent("storage.sqlite").path
    }

    @discardableResult
    func run(_ arguments: [String]) throws -> ToolRun { try ToolRun(url, arguments) }
}
