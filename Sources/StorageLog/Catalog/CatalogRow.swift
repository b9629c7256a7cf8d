internal import CSQLite
internal import StorageCore
internal import StorageRecords

/// A row of `storage_catalog`, which describes an entity or a column of one.
struct CatalogRow: Equatable {
    /// The columns of the table, in the order of a row's values.
    enum Field: Int, CaseIterable {
        case id, entity, name, stored, type, keyOrdinal, required, fallback, coding, isDropped, definition, origin
        case affinity, collation, isStrict, isGenerated

        /// - Parameter id: The column's id in the catalog.
        init?(column id: UInt32) {
            guard let index = Catalog.columns.firstIndex(where: { $0.id == id }) else { return nil }
            self.init(rawValue: index)
        }
    }

    private(set) var values: [StorageValue]

    /// A row whose fields are all NULL.
    init() { values = Array(repeating: .null, count: Field.allCases.count) }

    /// - Throws: `corrupt` for a name that isn't valid UTF-8 text.
    init(_ row: RowReader) throws {
        do {
            values = try Catalog.columns.enumerated().map { index, column in
                column.type == "TEXT" ? .text(try row.text(at: Int32(index))) : row.value(at: Int32(index))
            }
        } catch let error as StorageError where error.code == .invalidValue {
            throw StorageError.corruptLog("the catalog holds a value that no engine has written", cause: error)
        }
    }

    init(_ entity: CatalogEntity) {
        self.init(id: entity.id, entity: 0, name: entity.name, stored: entity.stored)
        self[.isDropped] = .integer(entity.isDropped ? 1 : 0)
        self[.definition] = .text(Catalog.text(of: entity.definition))
        self[.isStrict] = .integer(entity.isStrict ? 1 : 0)
    }

    init(_ column: CatalogColumn, of entity: UInt32) {
        self.init(id: column.id, entity: entity, name: column.name, stored: column.stored)
        self[.type] = .text(column.type)
        self[.keyOrdinal] = .integer(Int64(column.keyOrdinal))
        self[.required] = .integer(column.required ? 1 : 0)
        self[.fallback] = column.fallback
        self[.coding] = .text(column.coding)
        self[.isDropped] = .integer(column.isDropped ? 1 : 0)
        self[.definition] = .text(column.definition)
        self[.origin] = .integer(Int64(column.origin))
        self[.affinity] = .text(column.affinity.rawValue)
        self[.collation] = .text(column.collation)
    }

    /// Sets the fields that entities and columns share; the others get their empty values.
    private init(id: UInt32, entity: UInt32, name: String, stored: String) {
        values = Field.allCases.map { field in
            switch field {
            case .id: .integer(Int64(id))
            case .entity: .integer(Int64(entity))
            case .name: .text(name)
            case .stored: .text(stored)
            case .fallback: .null
            case .type, .coding, .definition, .affinity, .collation: .text("")
            case .keyOrdinal, .required, .isDropped, .origin, .isStrict, .isGenerated: .integer(0)
            }
        }
    }

    subscript(field: Field) -> StorageValue {
        get { values[field.rawValue] }
        set { values[field.rawValue] = newValue }
    }

    /// The id; 0 for a value that isn't an integer, which is refused when a catalog is built from the rows.
    var id: UInt32 { Self.id(self[.id]) }
    /// The entity that a column belongs to; 0 for an entity.
    var parent: UInt32 { Self.id(self[.entity]) }

    static func id(_ value: StorageValue) -> UInt32 {
        guard case .integer(let number) = value else { return 0 }
        return UInt32(truncatingIfNeeded: number)
    }
}

extension CatalogRow {
    /// Applies an event to the row, or reverts it if `isBackward`.
    mutating func apply(_ view: EventView, event: Int, isBackward: Bool) {
        for (field, value) in Self.values(of: event, view, isOld: isBackward) { self[field] = value }
    }

    /// The catalog columns that an event contains, with its values; `isOld` matters only for updates.
    static func values(of event: Int, _ view: EventView, isOld: Bool) -> [(field: Field, value: StorageValue)] {
        let shape = view.shape(of: event)
        let count = Int(shape.column_count)
        let start = view.columns(of: event) + (shape.isUpdate && !isOld ? count : 0)
        return (0..<count).compactMap { offset in
            Field(column: shape.columns[offset]).map { ($0, view.value(start[offset])) }
        }
    }
}

extension CatalogRow {
    /// - Throws: `corrupt` if the value isn't an integer in this range.
    func number(_ field: Field, in range: ClosedRange<Int64>) throws -> Int64 {
        guard case .integer(let number) = self[field], range.contains(number) else {
            throw StorageError.corruptLog(
                "the catalog holds \(self[field]) where a number from \(range.lowerBound) to \(range.upperBound) is expected"
            )
        }
        return number
    }

    /// - Throws: `corrupt` if the value isn't 0 or 1.
    func flag(_ field: Field) throws -> Bool { try number(field, in: 0...1) != 0 }

    /// - Throws: `corrupt` if the value isn't a text.
    func text(_ field: Field) throws -> String {
        guard case .text(let text) = self[field] else {
            throw StorageError.corruptLog("the catalog holds \(self[field]) where a name is expected")
        }
        return text
    }
}
