import StorageCore
import StorageHistory
import StorageLog

/// Writes tables with their columns.
struct SchemaPrinter {
    /// A projection of the program, and what it reads; everything where it names nothing.
    struct Reader {
        let name: String
        let kind: String
        let version: Int
        let entities: [String]

        func reads(_ entity: CatalogEntity) -> Bool {
            entities.isEmpty || entities.contains { $0.utf8.elementsEqual(entity.name.utf8) }
        }
    }

    private let output: ResultOutput

    init(_ output: ResultOutput) { self.output = output }

    func heading(_ text: String) throws {
        if output.format == .human { try output.line(text, .dim) }
    }

    func write(
        _ entities: [CatalogEntity], _ catalog: Catalog, _ indexes: [FullTextIndex], _ readers: [Reader]
    ) throws {
        let entities = entities.sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
        for (offset, entity) in entities.enumerated() {
            let index = indexes.first { $0.entity == entity.id }
            let readers = readers.filter { $0.reads(entity) }
            if output.format == .human {
                if offset > 0 { try output.line() }
                try writeText(entity, catalog, index, readers)
            } else {
                try output.record { Self.write(entity, catalog, index, readers, to: &$0) }
            }
            try output.flushIfDue()
        }
        if entities.isEmpty, output.format == .human { try output.line("No tables.", .dim) }
        try output.finish()
    }

    // MARK: People

    private func writeText(
        _ entity: CatalogEntity, _ catalog: Catalog, _ index: FullTextIndex?, _ readers: [Reader]
    ) throws {
        var line = StyledLine("table ", .dim)
        line.add(TargetArgument(table: entity.name).description, .heading)
        if entity.stored.folded != entity.name.folded { line.addWord("in SQL \(entity.stored)", .dim) }
        try output.line(line)
        var table = TableLayout([.init(""), .init(""), .init("")], width: output.width)
        for column in entity.live {
            table.add([
                TableCell("  \(column.name)"), TableCell(column.type),
                TableCell(Self.notes(column, of: entity).joined(separator: ", "), .dim),
            ])
        }
        try output.lines(table.lines(style: output.style))
        if let index {
            var line = StyledLine("  full-text ", .dim)
            line.add(index.columns.compactMap { catalog.column(id: $0)?.name }.joined(separator: ", "))
            line.addWord(([index.tokenizer] + Self.prefixes(index)).joined(separator: ", "), .dim)
            line.addWord("in SQL \(index.table)", .dim)
            try output.line(line)
        }
        for reader in readers {
            var line = StyledLine("  projection ", .dim)
            line.add(reader.name)
            line.addWord("\(reader.kind), version \(reader.version)", .dim)
            try output.line(line)
        }
    }

    private static func prefixes(_ index: FullTextIndex) -> [String] {
        index.prefixes.isEmpty ? [] : ["prefixes of \(index.prefixes.map(String.init).joined(separator: " "))"]
    }

    /// What there is to say of a column beside its type.
    private static func notes(_ column: CatalogColumn, of entity: CatalogEntity) -> [String] {
        var notes: [String] = []
        if column.keyOrdinal > 0 { notes.append(entity.key.count > 1 ? "key \(column.keyOrdinal)" : "key") }
        if column.required { notes.append("not null") }
        if column.fallback != .null {
            let field = StorageEvent.Field(
                column: column.name, value: column.fallback, type: column.type, coding: column.coding)
            notes.append("default \(ValueText.text(field))")
        }
        if let origin = entity.origin(of: column) {
            notes.append("converted from \(origin.name)\(origin.type.isEmpty ? "" : " \(origin.type)")")
        }
        if column.stored.folded != column.name.folded { notes.append("in SQL \(column.stored)") }
        return notes
    }

    // MARK: JSON

    private static func write(
        _ entity: CatalogEntity, _ catalog: Catalog, _ index: FullTextIndex?, _ readers: [Reader],
        to json: inout JSONWriter
    ) {
        json.key("table")
        json.text(entity.name)
        json.key("stored")
        json.text(entity.stored)
        json.key("columns")
        json.beginArray()
        for column in entity.live { write(column, of: entity, to: &json) }
        json.endArray()
        if let index {
            json.key("full_text")
            json.beginObject()
            json.key("columns")
            json.beginArray()
            for column in index.columns { json.text(catalog.column(id: column)?.name ?? "") }
            json.endArray()
            json.key("tokenizer")
            json.text(index.tokenizer)
            json.key("prefixes")
            json.beginArray()
            for length in index.prefixes { json.integer(Int64(length)) }
            json.endArray()
            json.endObject()
        }
        guard !readers.isEmpty else { return }
        json.key("projections")
        json.beginArray()
        for reader in readers { json.text(reader.name) }
        json.endArray()
    }

    /// One column as an object.
    static func write(_ column: CatalogColumn, of entity: CatalogEntity, to json: inout JSONWriter) {
        json.beginObject()
        json.key("name")
        json.text(column.name)
        json.key("type")
        json.text(column.type)
        json.key("key")
        json.integer(Int64(column.keyOrdinal))
        json.key("required")
        json.bool(column.required)
        json.key("default")
        StoredValueWriter.write(column.fallback, type: column.type, coding: column.coding, to: &json)
        if let origin = entity.columns.first(where: { column.origin != 0 && $0.id == column.origin }) {
            json.key("converted_from")
            json.text(origin.name)
        }
        json.endObject()
    }
}
