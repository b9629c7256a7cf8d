package import StorageCore

/// What the store knows of its entities: their names, tables and columns by id.
///
/// The catalog is itself an entity of the store, so that its changes are events like any other and a reader of the
/// past can know the schema of the past. Entities and columns are never removed from it, only marked as dropped: old
/// events go on referring to them.
package struct Catalog: Sendable, Equatable {
    package private(set) var entities: [CatalogEntity] = []
    private var indexOfEntity: [UInt32: Int] = [:]
    private var entityOfColumn: [UInt32: UInt32] = [:]

    package init() {}

    package mutating func add(_ entity: CatalogEntity) {
        indexOfEntity[entity.id] = entities.count
        entities.append(entity)
        for column in entity.columns { entityOfColumn[column.id] = entity.id }
    }

    package mutating func replace(_ entity: CatalogEntity) {
        guard let index = indexOfEntity[entity.id] else { return add(entity) }
        entities[index] = entity
        for column in entity.columns { entityOfColumn[column.id] = entity.id }
    }

    package func entity(id: UInt32) -> CatalogEntity? { indexOfEntity[id].map { entities[$0] } }

    /// The entity that has this name now.
    package func entity(named name: String) -> CatalogEntity? {
        entities.first { !$0.isDropped && $0.name.utf8.elementsEqual(name.utf8) }
    }

    /// The entities that have or had one of these names; every entity of users where none is given.
    package func entities(named names: [String]) -> Set<UInt32> {
        let names = Set(names.map(ExactText.init))
        return Set(
            entities.filter { entity in
                !entity.isReserved && (names.isEmpty || names.contains(ExactText(entity.name)))
            }.map(\.id))
    }

    package func entity(stored table: String) -> CatalogEntity? {
        entities.first { !$0.isDropped && $0.stored.folded == table.folded }
    }

    package func column(id: UInt32) -> CatalogColumn? {
        entityOfColumn[id].flatMap { entity(id: $0) }?.columns.first { $0.id == id }
    }

    /// Entities of users, whose tables exist.
    package var live: [CatalogEntity] { entities.filter { !$0.isDropped && !$0.isReserved } }

    package var nextId: UInt32 {
        var highest = CatalogEntity.lastReservedId
        for entity in entities {
            highest = max(highest, entity.id)
            for column in entity.columns { highest = max(highest, column.id) }
        }
        return highest + 1
    }
}

/// One entity of the catalog: a table whose changes are recorded.
package struct CatalogEntity: Sendable, Equatable {
    package let id: UInt32
    /// The name that users give it; any Unicode text.
    package var name: String
    /// The table's name in SQLite, which folds case and reserves some names.
    package var stored: String
    package var columns: [CatalogColumn]
    package var isDropped = false
    /// Whether the table is STRICT: its columns take no values of other types.
    package var isStrict = false
    /// The SQL of the table, then of its indexes and triggers, a statement each, so that they can be made again and a change
    /// of them behind our back is seen.
    package var definition: [String] = []

    package init(id: UInt32, name: String, stored: String, columns: [CatalogColumn]) {
        self.id = id
        self.name = name
        self.stored = stored
        self.columns = columns
    }

    /// The ids of the columns that the table has now, by the names that they have there.
    package var idsByStoredName: [ExactText: UInt32] {
        Dictionary(live.map { ($0.stored.folded, $0.id) }) { first, _ in first }
    }

    /// The columns that the table has now.
    package var live: [CatalogColumn] { columns.filter { !$0.isDropped } }
    /// The primary key, in order.
    package var key: [CatalogColumn] {
        columns.filter { $0.keyOrdinal > 0 && !$0.isDropped }.sorted { $0.keyOrdinal < $1.keyOrdinal }
    }

    package func column(named name: String) -> CatalogColumn? {
        columns.first { !$0.isDropped && $0.name.utf8.elementsEqual(name.utf8) }
    }

    /// The column that another was converted from; nil where it has values of its own from the beginning.
    package func origin(of column: CatalogColumn) -> CatalogColumn? {
        column.origin == 0 ? nil : columns.first { $0.id == column.origin }
    }

    /// The SQL of the table, and that of its indexes and triggers, as they are to be.
    package var definitions: (table: String, rest: [String]) {
        guard isReserved else { return (definition.first ?? "", Array(definition.dropFirst())) }
        let table = StoreSchema.objects.first { $0.name == stored }?.sql ?? ""
        return (table, StoreSchema.objects.filter { $0.sql.contains(" ON \(stored)(") }.map(\.sql))
    }

    /// The name by which SQLite's row number can be reached: one that no column hides.
    package var rowidName: String? {
        let taken = Set(live.map(\.stored.lowercasedASCII))
        return ["rowid", "_rowid_", "oid"].first { !taken.contains($0) }
    }
}

/// One column of the catalog.
package struct CatalogColumn: Sendable, Equatable {
    package let id: UInt32
    package var name: String
    package var stored: String
    /// As the entity declares it. What SQLite makes of the column is its ``affinity``.
    package var type: String
    /// How SQLite converts the values of the column, and compares them with others. What the type says until the table has
    /// been looked at.
    package var affinity: ColumnAffinity
    /// The collation by which SQLite compares the column's texts.
    package var collation = Self.binary
    /// 1-based place in the primary key; 0 outside it.
    package var keyOrdinal: Int
    package var required: Bool
    /// The value of rows from before the column was added.
    package var fallback: StorageValue
    /// How values are to be understood beyond their storage class: `uuid` for the bytes of UUIDs; what begins with `json` for
    /// columns of imported histories; empty for plain columns.
    package var coding: String
    package var isDropped = false
    /// The column whose values were converted into this one's; 0 where there is none.
    package var origin: UInt32 = 0
    /// The title of the conversion.
    package var definition = ""

    /// The column for an evaluator of conditions, which takes a collation that it doesn't know for `BINARY`.
    package var evaluated: EvaluatedColumn {
        EvaluatedColumn(name: name, affinity: affinity, collation: knownCollation ?? .binary)
    }

    /// The collation; nil where only SQLite knows it.
    package var knownCollation: RowPredicate.Collation? { RowPredicate.Collation(rawValue: collation.uppercased()) }

    /// The collation that takes no two texts for one.
    package static let binary = "BINARY"

    package init(
        id: UInt32, name: String, stored: String? = nil, type: String, keyOrdinal: Int = 0, required: Bool = false,
        fallback: StorageValue = .null, coding: String = ""
    ) {
        self.id = id
        self.name = name
        self.stored = stored ?? name
        self.type = type
        affinity = ColumnAffinity(declaredType: type)
        self.keyOrdinal = keyOrdinal
        self.required = required
        self.fallback = fallback
        self.coding = coding
    }

    /// Whether the column holds whatever kind of value an imported history has, so that its table gives it no type, or text.
    package var isImported: Bool { Self.isImported(coding) }
    package static func isImported(_ coding: String) -> Bool { coding.hasPrefix("json") }

    /// Whether the column stores a number as one. The columns of imported histories that began with a text have SQLite's text
    /// affinity, so that `WHERE id = 42` finds the text `42`; it would turn a number into a text, so a number is kept there as
    /// the bytes of its JSON source, like every value that isn't of its column's kind.
    package var storesNumbers: Bool { !isImported || affinity != .text }
}

extension String {
    /// A name as SQLite compares it with others.
    package var folded: ExactText { ExactText(lowercasedASCII) }
}
