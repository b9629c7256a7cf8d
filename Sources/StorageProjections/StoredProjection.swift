internal import Foundation
internal import StorageCore
package import StorageLog

/// A user-defined projection as stored, whether or not the program declares it.
package struct StoredProjection: Sendable {
    package let name: String
    /// A ``ProjectionMode``, by its raw value.
    package let kind: String
    /// 0 if the command line has reset it.
    package let version: Int
    package let tables: ProjectionTables

    /// Every user-defined projection, by name.
    ///
    /// - Throws: `corrupt` if a definition can't be read.
    package static func all(in database: Connection) throws -> [StoredProjection] {
        let select = try PreparedStatement(
            database,
            "SELECT name, kind, version, definition FROM storage_projection WHERE kind <> 'full-text' ORDER BY name")
        var found: [StoredProjection] = []
        while try select.step() {
            let name = select.string(0)
            do {
                let tables = try JSONDecoder().decode(ProjectionTables.self, from: Data(select.string(3).utf8))
                found.append(
                    StoredProjection(
                        name: name, kind: select.string(1), version: Int(select.integer(2)), tables: tables))
            } catch {
                throw StorageError.corruptLog("the definition of the projection \(name) can't be read: \(error)")
            }
        }
        return found
    }
}
