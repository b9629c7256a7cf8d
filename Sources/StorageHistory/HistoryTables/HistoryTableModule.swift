internal import CSQLite
internal import StorageCore
internal import StorageLog

/// The history tables of a connection as SQLite's virtual tables, each implemented by a ``HistoryTableReader``.
///
/// Not `Sendable`: it belongs to its connection's thread.
final class HistoryTableModule {
    let source: Connection
    let catalog: Catalog
    let tables: [HistoryTable]
    /// Whether the query casts, so that a literal in it may have an affinity.
    var mayCast = false
    /// The error that the last call has thrown.
    var failure: (any Error)?
    private var isRegistered = false

    init(_ source: Connection, catalog: Catalog, tables: [HistoryTable]) {
        self.source = source
        self.catalog = catalog
        self.tables = tables
    }

    /// Registers the module with the connection, which keeps it until it is closed.
    ///
    /// - Returns: The module's name.
    func register() throws -> String {
        let name = "storagekit_history"
        guard !isRegistered else { return name }
        // Sound to force: rows.c hands over what it got here, or from SQLite, and neither is ever NULL but for the values of a
        // search without any.
        var callbacks = storage_row_source(
            connect: { source, number in
                let module = Unmanaged<HistoryTableModule>.fromOpaque(source!).takeUnretainedValue()
                guard module.tables.indices.contains(Int(number)) else { return nil }
                return Unmanaged.passRetained(HistoryTableReader(module, module.tables[Int(number)])).toOpaque()
            },
            disconnect: { Unmanaged<HistoryTableReader>.fromOpaque($0!).release() },
            plan: { table, info, message in
                HistoryTableModule.run(table!, message) { try $0.plan(info!) }
            },
            search: { table, plan, count, values, found, message in
                HistoryTableModule.run(table!, message) { reader in
                    let conditions = reader.plans[Int(plan)].conditions
                    let values = try (0..<Int(count)).map { index -> [StorageValue]? in
                        guard conditions[index].isList else {
                            return [storage_value(borrowing: values![index]!).value()]
                        }
                        return try HistoryTableModule.list(values![index]!)
                    }
                    let rows = try reader.search(plan: Int(plan), values)
                    found!.pointee = storage_search(
                        statement: rows.statement.pointer, owner: Unmanaged.passRetained(rows).toOpaque())
                }
            },
            release: { Unmanaged<HistoryRowBuffer.Reading>.fromOpaque($0!).release() },
            destroy: { Unmanaged<HistoryTableModule>.fromOpaque($0!).release() })
        let code = storage_create_row_module(
            source.handle, name, &callbacks, Unmanaged.passRetained(self).toOpaque())
        guard code == SQLITE_OK else { throw source.error(code) }
        isRegistered = true
        return name
    }

    /// The values of an `IN` except NULL, to which nothing is equal; nil for too many.
    private static func list(_ values: OpaquePointer) throws -> [StorageValue]? {
        var list: [StorageValue] = []
        var value: OpaquePointer?
        var code = sqlite3_vtab_in_first(values, &value)
        while code == SQLITE_OK, let found = value {
            let next = storage_value(borrowing: found).value()
            if next != .null { list.append(next) }
            guard list.count <= HistorySearch.mostValues else { return nil }
            code = sqlite3_vtab_in_next(values, &value)
        }
        guard code == SQLITE_OK || code == SQLITE_DONE else {
            throw StorageError.breach("SQLite doesn't give the values of a list (\(code))")
        }
        return list
    }

    private static func run(
        _ table: UnsafeMutableRawPointer, _ message: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?,
        _ body: (HistoryTableReader) throws -> Void
    ) -> Int32 {
        let reader = Unmanaged<HistoryTableReader>.fromOpaque(table).takeUnretainedValue()
        do {
            try body(reader)
            return SQLITE_OK
        } catch {
            reader.module.failure = error
            message?.pointee = storage_message((error as? StorageError)?.message ?? "\(error)")
            return SQLITE_ERROR
        }
    }
}
