import Foundation
import StorageKit

/// A projection written in SQL, in a file.
enum ProjectionFile {
    /// - Throws: `notFound` if there is no such file, `usage` if it can't be parsed as a projection.
    static func load(_ path: String) throws -> SQLProjection {
        let data: Data
        do {
            data = try Data(contentsOf: URL(fileURLWithPath: path))
        } catch {
            throw CommandError(
                .notFound, "There is no file \(path).",
                next: "Name a file with a projection in SQL, such as totals.sql.")
        }
        guard let text = String(validating: data, as: UTF8.self) else {
            throw CommandError(
                .usage, "\(path) isn't text in UTF-8.",
                next: "Name a file with a projection in SQL, such as totals.sql.")
        }
        do {
            return try SQLProjection(name: URL(fileURLWithPath: path).lastPathComponent, sql: text)
        } catch let error as StorageError {
            throw CommandError(.usage, "\(path) isn't a projection: \(error.message)", next: error.remedy)
        }
    }
}
