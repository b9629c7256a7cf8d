internal import Foundation

extension SQLiteClient {
    /// Where a database belongs: in a program in the user's data folder (`~/.local/share` on Linux), in tests and previews in a
    /// file of its own in the temporary folder, whose name nobody else knows.
    ///
    /// The folder is made where it is missing; the file isn't. A path that was given as `\.databasePath` comes first.
    ///
    /// - Parameters:
    ///   - fileName: A name without a slash.
    ///   - context: Where the program runs; what the process is where nil.
    /// - Throws: ``SQLiteClientError`` with `io-error` where the folder can't be made, `invalid-argument` for a name with a slash.
    public static func path(fileName: String = "app.sqlite", context: DependencyContext? = nil) throws -> String {
        let values = DependencyValues.current
        if let path = values.databasePath { return path }
        guard !fileName.isEmpty, !fileName.contains("/") else {
            throw SQLiteClientError(
                .invalidArgument, "\"\(fileName)\" is no name of a file.",
                remedy: "Give a name without a slash, or the whole path as `\\.databasePath`.")
        }
        switch context ?? values.context {
        case .live:
            do {
                let folder = try FileManager.default.url(
                    for: .applicationSupportDirectory, in: .userDomainMask, appropriateFor: nil, create: true)
                return folder.appendingPathComponent(fileName).path
            } catch {
                throw SQLiteClientError(
                    .ioError, "The user's data folder can't be made.",
                    remedy: "Check its permissions, or give a path as `\\.databasePath`.", cause: error)
            }
        case .preview, .test:
            return FileManager.default.temporaryDirectory
                .appendingPathComponent("\(UUID().uuidString)-\(fileName)").path
        }
    }
}

extension DependencyValues {
    /// The path of the database, in place of that which ``SQLiteClient/path(fileName:context:)`` chooses.
    public var databasePath: String? {
        get { self[DatabasePathKey.self] }
        set { self[DatabasePathKey.self] = newValue }
    }

    private enum DatabasePathKey: DependencyKey {
        static let liveValue: String? = nil
    }
}
