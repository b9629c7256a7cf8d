internal import Foundation
internal import StorageCore
internal import StorageLog

/// The identity of an interrupted fold, which must match for it to be resumed.
struct FoldCheckpoint: Equatable {
    private static let table = "storage_fold"

    /// The projection's name and version, the entities that it reads, and the program that folded it.
    private let rules: String
    /// The last event that was applied, and its commit: in another history, the same position has another time.
    let position: Int64
    private let commit: Int64
    private let time: Int64

    init(rules: String, at position: Int64, of source: Connection) throws {
        (self.rules, self.position) = (rules, position)
        let outline = try position == 0 ? nil : LogReader(source).outline(containing: position)
        let info = outline.map { $0.commit(ofEvent: Int(position - $0.header.first)) }
        commit = info?.number ?? 0
        time = info?.time ?? 0
    }

    static func rules(of projection: any Projection, _ catalog: Catalog) -> String {
        let entities = catalog.entities(named: projection.entities).sorted().compactMap(catalog.entity(id:))
        // Includes the projection's value: rules in SQL aren't part of the program.
        let own = [projection.name, "\(projection.version)", String(reflecting: projection), program]
        return (own + entities.map { "\($0)" }).joined(separator: "\n")
    }

    private init(rules: String, position: Int64, commit: Int64, time: Int64) {
        (self.rules, self.position, self.commit, self.time) = (rules, position, commit, time)
    }

    /// Identifies the build of the program: another build may have other rules under the same version.
    private static let program: String = {
        guard let path = Bundle.main.executablePath,
            let attributes = try? FileManager.default.attributesOfItem(atPath: path),
            let size = attributes[.size] as? Int, let date = attributes[.modificationDate] as? Date
        else { return UUID().uuidString }
        return "\(path) \(size) \(date.timeIntervalSince1970)"
    }()

    static func isOwn(_ table: String) -> Bool { table == self.table }

    static func load(_ database: Connection) throws -> FoldCheckpoint? {
        guard try database.hasTable(table) else { return nil }
        let select = try PreparedStatement(database, "SELECT rules, position, number, time FROM \(table)")
        guard try select.step() else { return nil }
        return FoldCheckpoint(
            rules: select.string(0), position: select.integer(1), commit: select.integer(2), time: select.integer(3))
    }

    func save(_ database: Connection) throws {
        try PreparedStatement(
            database,
            "CREATE TABLE IF NOT EXISTS \(Self.table)(id INTEGER PRIMARY KEY, rules, position, number, time)"
        ).execute()
        let insert = try PreparedStatement(database, "INSERT OR REPLACE INTO \(Self.table) VALUES (1, ?1, ?2, ?3, ?4)")
        insert.bind(text: rules, at: 1)
        for (index, number) in [position, commit, time].enumerated() { insert.bind(number, at: Int32(index + 2)) }
        try insert.execute()
    }
}
