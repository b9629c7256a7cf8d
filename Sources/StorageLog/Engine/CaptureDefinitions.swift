internal import CSQLite
internal import Foundation
internal import StorageCore

/// The tables as capture was last given them, so that only those that differ are defined again.
struct CaptureDefinitions {
    /// What an entity's definition for capture is made of.
    struct Source {
        var entity: CatalogEntity
        var table: IntrospectedTable

        /// Whether the definition is certainly the same. Columns that were read again may equal the earlier ones; they count as
        /// different.
        func isSame(as other: Source) -> Bool {
            entity.id == other.entity.id && ExactText(table.name) == ExactText(other.table.name)
                && entity.columns.sharesStorage(with: other.entity.columns)
                && table.columns.sharesStorage(with: other.table.columns)
        }
    }

    private struct Table {
        var name: String
        var entity: UInt32
        var positionColumn: Int32 = -1
        var columns: [UInt32] = []
        var keyIndices: [UInt8] = []
        var reals: [UInt8] = []
        var fallbacks: [StorageValue] = []
    }

    /// By entity.
    private var known: [UInt32: Source] = [:]

    /// Makes capture record the tables of these entities, and no others.
    ///
    /// - Returns: How many of them had to be defined.
    mutating func define(_ sources: [Source], in capture: OpaquePointer) throws -> Int {
        let entities = Set(sources.map(\.entity.id))
        for entity in known.keys.filter({ !entities.contains($0) }) {
            storage_capture_forget(capture, entity)
            known[entity] = nil
        }
        let changed = sources.filter { source in known[source.entity.id].map(source.isSame) != true }
        guard !changed.isEmpty else { return 0 }
        try Self.install(changed.map(Self.table), in: capture)
        for source in changed { known[source.entity.id] = source }
        return changed.count
    }

    private static func table(_ source: Source) -> Table {
        let (entity, found) = (source.entity, source.table)
        var table = Table(name: found.name, entity: entity.id)
        let names = Set(found.columns.map(\.name.folded))
        guard let position = found.columns.firstIndex(where: { $0.name == "_position" }),
            entity.live.allSatisfy({ names.contains($0.stored.folded) }), hasKey(of: entity, found)
        else { return table }
        table.positionColumn = Int32(position)
        let live = Dictionary(entity.live.map { ($0.stored.folded, $0) }) { first, _ in first }
        for column in found.columns {
            let known = live[column.name.folded]
            table.columns.append(known?.id ?? 0)
            table.keyIndices.append(known.map { UInt8(truncatingIfNeeded: $0.keyOrdinal) } ?? 0)
            table.reals.append(column.affinity == .real ? 1 : 0)
            table.fallbacks.append(column.fallback)
        }
        return table
    }

    /// Whether the table refuses a second row with the same key. Another program may have recreated it without its primary key.
    private static func hasKey(of entity: CatalogEntity, _ found: IntrospectedTable) -> Bool {
        let key = found.columns.filter { $0.keyOrdinal > 0 }.sorted { $0.keyOrdinal < $1.keyOrdinal }
        return found.hasRowid && key.map(\.name.folded) == entity.key.map(\.stored.folded)
    }

    /// Collects the arrays that `storage_capture_define` reads, and keeps them alive while it does.
    private static func install(_ tables: [Table], in capture: OpaquePointer) throws {
        var memory: [UnsafeMutableRawPointer] = []
        defer { for block in memory { block.deallocate() } }
        func keep<Element>(_ elements: [Element]) -> UnsafePointer<Element> {
            let block = UnsafeMutablePointer<Element>.allocate(capacity: max(elements.count, 1))
            block.initialize(from: elements, count: elements.count)
            memory.append(UnsafeMutableRawPointer(block))
            return UnsafePointer(block)
        }
        func raw(_ value: StorageValue) -> storage_value {
            value.withRaw { raw in
                guard raw.hasBytes else { return raw }
                let bytes = Array(raw.addressed)
                return storage_value(
                    type: Int32(raw.type), borrowing: UnsafeRawBufferPointer(start: keep(bytes), count: bytes.count))
            }
        }
        var list: [storage_table] = []
        for table in tables {
            let needed = table.fallbacks.contains { $0 != .null }
            list.append(
                storage_table(
                    name: keep(Array(table.name.utf8CString)), entity: table.entity,
                    column_count: UInt32(table.columns.count), position_column: table.positionColumn,
                    columns: keep(table.columns),
                    key_indices: keep(table.keyIndices), reals: keep(table.reals),
                    fallbacks: needed ? keep(table.fallbacks.map(raw)) : nil))
        }
        let code = list.withUnsafeBufferPointer { storage_capture_define(capture, $0.baseAddress, $0.count) }
        guard code == SQLITE_OK else {
            throw StorageError.sqlite(code: code, message: "capture can't be set up", sql: nil)
        }
    }
}
