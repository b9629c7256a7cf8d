internal import Foundation

extension SQLiteClient {
    /// Returns a path for the database's file.
    ///
    /// In a program it is in the user's data folder (`~/.local/share` on Linux), in tests and previews a unique file in
    /// the temporary folder. Creates the folder if it is missing, but not the file. A `\.databasePath` dependency takes
    /// precedence.
    ///
    /// - Parameters:
    ///   - fileName: A name without a slash.
    ///   - context: Where the program runs; detected from the process if nil.
    /// - Throws: ``SQLiteClientError`` with `io-error` if the folder can't be created, `invalid-argument` for a name
    ///   with a slash.
    public static func path(fileName: String = "app.sqlite", context: DependencyContext? = nil) throws -> String {
        let values = DependencyValues.current
        if let path = values.databasePath { return path }
        guard !fileName.isEmpty, !fileName.contains("/") else {
            throw SQLiteClientError(
                .invalidArgument, "\"\(fileName)\" isn't a file name.",
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
                    .ioError, "The user's data folder can't be created.",
                    remedy: "Check its permissions, or give a path as `\\.databasePath`.", cause: error)
            }
        case .preview, .test:
            return FileManager.default.temporaryDirectory
                .appendingPathComponent("\(UUID().uuidString)-\(fileName)").path
        }
    }
}

extension DependencyValues {
    /// The path of the database, overriding ``SQLiteClient/path(fileName:context:)``.
    public var databasePath: String? {
        get { self[DatabasePathKey.self] }
        set { self[DatabasePathKey.self] = newValue }
    }

    private enum DatabasePathKey: DependencyKey {
        static let liveValue: String? = nil
    }
}
