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

    /// Updates a table from the position before the window to its last one.
    ///
    /// - Parameters:
    ///   - table: Its index in ``tables``.
    ///   - target: The table in `database`; its columns are those of the entity.
    ///   - check: Called at intervals; may throw to stop.
    /// - Throws: `conflict` if a row that takes a unique value is written before the row that releases it; applying events one by
    ///   one avoids that.
    package func apply(
        _ table: Int, to target: Fold.Target, in database: Connection, check: () throws -> Void = {}
    ) throws {
        try withContents { contents in
            let writer = try NetWindowWriter(of: tables[table], in: contents, to: target, in: database)
            // Deletes come first, to make room for inserts.
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
                    // None of the arrays is empty if there is a row.
                    guard let rows = rows.baseAddress, let values = values.baseAddress, let bytes = bytes.baseAddress
                    else { return }
                    try body(Contents(rows: rows, values: values, bytes: bytes))
                }
            }
        }
    }
}

extension NetWindow.Contents {
    /// How many rows ahead a row is prefetched, then its values, then their bytes: each step needs the result of the previous
    /// one.
    private static let (rowDistance, valueDistance, byteDistance) = (16, 8, 4)

    /// Prefetches rows into the processor's cache, because in memory they lie in the order of the log.
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
