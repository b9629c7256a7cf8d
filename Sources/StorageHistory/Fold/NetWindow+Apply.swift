internal import CSQLite
internal import StorageCore
package import StorageLog

extension NetWindow {
    /// The window's arrays, as pointers that are valid inside of ``withContents(_:)``.
    struct Contents {
        let rows: UnsafePointer<Row>
        package let values: UnsafePointer<storage_value>
        let bytes: UnsafePointer<UInt8>
    }

    /// Brings a table from the position before the window to its last one.
    ///
    /// - Parameters:
    ///   - table: Its place in ``tables``.
    ///   - target: The table in `database`; its columns are those of the entity.
    ///   - check: Called now and then; may throw to stop.
    /// - Throws: `conflict` where a row that takes a unique value comes before the row that gives it up: with events
    ///   one by one that can't happen.
    package func apply(
        _ table: Int, to target: Fold.Target, in database: Connection, check: () throws -> Void = {}
    ) throws {
        try withContents { contents in
            let writer = try NetWindowWriter(of: tables[table], in: contents, to: target, in: database)
            // What is deleted makes room for what is inserted.
            for indices in [tables[table].gone, tables[table].present] {
                for (count, index) in indices.enumerated() {
                    if count % Self.checkInterval == 0 { try check() }
                    contents.prefetch(indices, after: count, width: writer.width)
                    try writer.write(contents.rows[Int(index)])
                }
            }
            try writer.finish()
        }
    }

    /// Rows between two calls of `check`.
    private static let checkInterval = 64

    private func withContents(_ body: (Contents) throws -> Void) throws {
        try rows.withUnsafeBufferPointer { rows in
            try values.withUnsafeBufferPointer { values in
                try heap.bytes.withUnsafeBufferPointer { bytes in
                    // None is empty once there is a row.
                    guard let rows = rows.baseAddress, let values = values.baseAddress, let bytes = bytes.baseAddress
                    else { return }
                    try body(Contents(rows: rows, values: values, bytes: bytes))
                }
            }
        }
    }
}

extension NetWindow.Contents {
    /// How many rows ahead a row is fetched, then its values, then their bytes: each needs what was fetched before it.
    private static let (rowDistance, valueDistance, byteDistance) = (16, 8, 4)

    /// Fetches rows into the processor's cache, as in memory they lie in the order of the log.
    @inline(__always)
    fileprivate func prefetch(_ indices: [Int32], after count: Int, width: Int) {
        if count + Self.rowDistance < indices.count {
            storage_prefetch(rows + Int(indices[count + Self.rowDistance]))
        }
        if count + Self.valueDistance < indices.count {
            storage_prefetch(values + rows[Int(indices[count + Self.valueDistance])].values)
        }
        guard count + Self.byteDistance < indices.count else { return }
        let start = rows[Int(indices[count + Self.byteDistance])].values
        for index in start..<start + width where values[index].hasBytes {
            storage_prefetch(bytes + Int(values[index].bits))
        }
    }
}
