internal import CSQLite
internal import Foundation
internal import StorageCore

extension Catalog {
    /// Reads the catalog of an open store.
    package static func load(_ database: Connection) throws -> Catalog {
        let select = try PreparedStatement(database, "\(selection) ORDER BY entity, id")
        var rows: [[StorageValue]] = []
        while try select.step() { rows.append(try values(of: select.row)) }
        return try Catalog(rows: rows)
    }

    /// The columns of `storage_catalog`, in whose order its rows are held.
    static let columns = CatalogEntity.catalog.columns
    private static let names = columns.map(\.stored).joined(separator: ", ")

    /// Selects the columns, then the position of the row's last event.
    static let selection = "SELECT \(names), _position FROM storage_catalog"

    /// Writes a row, then the position of its event.
    static let upsert = """
        INSERT INTO storage_catalog(\(names), _position)
        VALUES (\((columns.map { _ in "?" } + ["?"]).joined(separator: ", ")))
        ON CONFLICT(id) DO UPDATE SET \((columns.dropFirst(2).map(\.stored) + ["_position"])
            .map { "\($0) = excluded.\($0)" }.joined(separator: ", "))
        """

    /// The place of a column of `storage_catalog` in a row, by the column's id.
    static func index(ofColumn id: UInt32) -> Int? { columns.firstIndex { $0.id == id } }

    /// - Throws: `invalid-value` for a name that isn't valid UTF-8 text.
    static func values(of row: RowReader) throws -> [StorageValue] {
        try columns.enumerated().map { index, column in
            column.type == "TEXT" ? .text(try row.text(at: Int32(index))) : row.value(at: Int32(index))
        }
    }

    /// The catalog that rows of `storage_catalog` describe, entities before their columns, each by rising id.
    ///
    /// - Throws: `corrupt` where a number isn't one that a catalog can hold: what is computed from them isn't checked again.
    init(rows: [[StorageValue]]) throws {
        self.init()
        var entities: [UInt32: CatalogEntity] = [:]
        var order: [UInt32] = []
        for row in rows {
            let id = UInt32(try row[0].catalogNumber(in: Self.ids))
            let parent = UInt32(try row[1].catalogNumber(in: 0...Self.ids.upperBound))
            if parent == 0 {
                var entity = CatalogEntity(
                    id: id, name: try row[2].catalogText, stored: try row[3].catalogText, columns: [])
                entity.isDropped = try row[9].catalogNumber(in: 0...1) != 0
                entity.definition = try Self.statements(row[10].catalogText)
                entity.isStrict = try row[14].catalogNumber(in: 0...1) != 0
                entities[id] = entity
                order.append(id)
            } else {
                var column = CatalogColumn(
                    id: id, name: try row[2].catalogText, stored: try row[3].catalogText, type: try row[4].catalogText,
                    keyOrdinal: Int(try row[5].catalogNumber(in: 0...Int64(Limits.keyColumns))),
                    required: try row[6].catalogNumber(in: 0...1) != 0, fallback: row[7],
                    coding: try row[8].catalogText)
                column.isDropped = try row[9].catalogNumber(in: 0...1) != 0
                column.definition = try row[10].catalogText
                column.origin = UInt32(try row[11].catalogNumber(in: 0...Self.ids.upperBound))
                guard let affinity = ColumnAffinity(rawValue: try row[12].catalogText) else {
                    throw StorageError.corruptLog("the catalog holds \(row[12]) where an affinity is expected")
                }
                column.affinity = affinity
                column.collation = try row[13].catalogText
                guard try row[15].catalogNumber(in: 0...1) == 0 else {
                    throw StorageError(
                        .unsupportedFormat, "\(column.name) is a generated column, which this version doesn't know.",
                        remedy: "Open the store with the version of StorageKit that wrote it.")
                }
                guard entities[parent]?.columns.append(column) != nil else {
                    throw StorageError.corruptLog("the catalog's column \(id) belongs to no entity")
                }
            }
        }
        for entity in CatalogEntity.reserved { add(entity) }
        for id in order { if let entity = entities[id] { add(try entity.checked()) } }
    }

    /// Ids of what users declare: those of the store's own entities aren't in the catalog.
    private static let ids = Int64(CatalogEntity.lastReservedId) + 1...Limits.catalogIds.upperBound

    /// The rows of `storage_catalog` that describe an entity and its columns, by id.
    static func rows(of entity: CatalogEntity) -> [UInt32: [StorageValue]] {
        var rows: [UInt32: [StorageValue]] = [:]
        rows[entity.id] = [
            .integer(Int64(entity.id)), 0, .text(entity.name), .text(entity.stored), "", 0, 0, .null, "",
            .integer(entity.isDropped ? 1 : 0), .text(text(of: entity.definition)), 0, "", "",
            .integer(entity.isStrict ? 1 : 0), 0,
        ]
        for column in entity.columns {
            rows[column.id] = [
                .integer(Int64(column.id)), .integer(Int64(entity.id)), .text(column.name), .text(column.stored),
                .text(column.type), .integer(Int64(column.keyOrdinal)), .integer(column.required ? 1 : 0),
                column.fallback, .text(column.coding), .integer(column.isDropped ? 1 : 0),
                .text(column.definition), .integer(Int64(column.origin)), .text(column.affinity.rawValue),
                .text(column.collation), 0, 0,
            ]
        }
        return rows
    }

    /// Statements as the catalog keeps them: an array of JSON, because nothing that SQL can hold marks the end of a statement.
    package static func text(of statements: [String]) -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .withoutEscapingSlashes
        // Strings can always be encoded.
        return (try? encoder.encode(statements)).map { String(decoding: $0, as: UTF8.self) } ?? "[]"
    }

    private static func statements(_ text: String) throws -> [String] {
        do {
            return try JSONDecoder().decode([String].self, from: Data(text.utf8))
        } catch {
            throw StorageError.corruptLog(
                "the catalog holds \"\(text.prefix(80))\" where a list of statements is expected")
        }
    }
}

extension CatalogEntity {
    /// The entity, if its key has one column at each of its places: change capture fills an array by them.
    fileprivate func checked() throws -> CatalogEntity {
        let ordinals = key.map(\.keyOrdinal)
        guard isDropped || !ordinals.isEmpty, ordinals == Array(0..<ordinals.count).map({ $0 + 1 }) else {
            throw StorageError.corruptLog("the catalog says that the key of \"\(name)\" has the ordinals \(ordinals)")
        }
        return self
    }
}

extension StorageValue {
    fileprivate func catalogNumber(in range: ClosedRange<Int64>) throws -> Int64 {
        guard case .integer(let number) = self, range.contains(number) else {
            throw StorageError.corruptLog(
                "the catalog holds \(self) where a number from \(range.lowerBound) to \(range.upperBound) is expected")
        }
        return number
    }

    fileprivate var catalogText: String {
        get throws {
            guard case .text(let text) = self else {
                throw StorageError.corruptLog("the catalog holds \(self) where a name is expected")
            }
            return text
        }
    }
}
