import StorageKit

/// Writes tables with their columns.
struct SchemaPrinter {
    /// A projection of the program, and the entities that it reads; all if it names none.
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
        _ entities: [CatalogEntity], of catalog: Catalog, indexes: [FullTextIndex], unrecorded: [String],
        readers: [Reader]
    ) throws {
        let entities = entities.sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
        for (offset, entity) in entities.enumerated() {
            let index = indexes.first { $0.entity == entity.id }
            let readers = readers.filter { $0.reads(entity) }
            if output.format == .human {
                if offset > 0 { try output.line() }
                try writeText(entity, of: catalog, index: index, readers: readers)
            } else {
                let fullText = index.map { index in
                    TableRecord.FullText(
                        columns: index.columns.map { catalog.column(id: $0)?.name ?? "" }, tokenizer: index.tokenizer,
                        prefixes: index.prefixes)
                }
                try output.record(
                    TableRecord(entity: entity, fullText: fullText, projections: readers.map(\.name)))
            }
            try output.flushIfDue()
        }
        if entities.isEmpty, output.format == .human { try output.line("No tables.", .dim) }
        if !unrecorded.isEmpty, output.format == .human {
            if !entities.isEmpty { try output.line() }
            try output.line("without history: \(unrecorded.joined(separator: ", "))", .dim)
        }
        try output.finish()
    }

    // MARK: People

    private func writeText(
        _ entity: CatalogEntity, of catalog: Catalog, index: FullTextIndex?, readers: [Reader]
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

    /// Returns notes on a column in addition to its type.
    private static func notes(_ column: CatalogColumn, of entity: CatalogEntity) -> [String] {
        var notes: [String] = []
        if column.keyOrdinal > 0 { notes.append(entity.key.count > 1 ? "key \(column.keyOrdinal)" : "key") }
        if column.required { notes.append("not null") }
        if column.fallback != .null {
            notes.append("default \(ValueText.text(StorageEvent.Field(column.fallback, of: column)))")
        }
        if let origin = entity.origin(of: column) {
            notes.append("converted from \(origin.name)\(origin.type.isEmpty ? "" : " \(origin.type)")")
        }
        if column.stored.folded != column.name.folded { notes.append("in SQL \(column.stored)") }
        return notes
    }

}
