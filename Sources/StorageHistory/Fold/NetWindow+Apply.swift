internal import CSQLite
internal import StorageCore
package import StorageLog

extension NetWindow {
    /// The window's arrays, as pointers that are valid inside of ``withContents(_:)``.
    struct Contents {
        let rows: UnsafePointer<Row>
        let values: UnsafePointer<storage_value>
        let bytes: UnsafePointer<UInt8>
        private let valueCount: Int

        /// nil if the window has no rows.
        @inline(__always)
        init?(
            rows: UnsafeBufferPointer<Row>, values: UnsafeBufferPointer<storage_value>,
            bytes: UnsafeBufferPointer<UInt8>
        ) {
            guard let row = rows.baseAddress, let value = values.baseAddress, let byte = bytes.baseAddress
            else { return nil }
            (self.rows, self.values, self.bytes, valueCount) = (row, value, byte, values.count)
        }
    }

    /// Updates a table from the position before the window to its last one.
    ///
    /// - Parameters:
    ///   - table: Its index in ``tables``.
    ///   - target: The table in `database`; its columns are those of the entity.
    ///   - check: Called at intervals; may throw to stop.
    /// - Throws: `conflict` if a row that takes a unique value is written before the row that releases it, or if the table has a new
    ///   row already, because another program had deleted it; applying events one by one avoids both.
    package func apply(
        _ table: Int, to target: Fold.Target, in database: Connection, check: () throws -> Void = {}
    ) throws {
        try withContents { contents in
            let writer = try NetWindowWriter(
                of: tables[table], in: contents, to: target, in: database, isFirst: first == 1)
            // Deletes come first, to make room for inserts.
            for indices in [tables[table].gone, tables[table].present] {
                for (count, index) in indices.enumerated() {
                    if count % Self.checkInterval == 0 { try check() }
                    contents.prefetch(indices, after: count)
                    try writer.write(contents.rows[Int(index)])
                }
            }
            try writer.finish()
        }
    }

    /// Rows between two calls of `check`.
    private static let checkInterval = 64

    func withContents(_ body: (Contents) throws -> Void) throws {
        try rows.withUnsafeBufferPointer { rows in
            try values.withUnsafeBufferPointer { values in
                try heap.bytes.withUnsafeBufferPointer { bytes in
                    guard let contents = Contents(rows: rows, values: values, bytes: bytes) else { return }
                    try body(contents)
                }
            }
        }
    }
}

extension NetWindow.Contents {
    /// How many rows are prefetched at a time while the window grows.
    static let prefetchStep = 8
    /// How many rows ahead a row is prefetched, then its values, then their bytes: each step needs the result of the previous
    /// one.
    private static let (rowDistance, valueDistance, byteDistance) = (3 * prefetchStep, 2 * prefetchStep, prefetchStep)
    /// The values of a row whose bytes are prefetched, at most: its key and the first columns.
    private static let prefetchedValues = 8

    /// Prefetches rows into the processor's cache, because in memory they lie in the order of the log. Negative indices aren't
    /// rows.
    @inline(__always)
    func prefetch(_ indices: [Int32], after count: Int) {
        if let row = row(indices, count + Self.rowDistance) { storage_prefetch(row) }
        if let row = row(indices, count + Self.valueDistance) { storage_prefetch(values + row.pointee.values) }
        guard let row = row(indices, count + Self.byteDistance) else { return }
        let start = row.pointee.values
        for index in start..<min(start + Self.prefetchedValues, valueCount) where values[index].hasBytes {
            storage_prefetch(bytes + Int(values[index].bits))
        }
    }

    /// The same for some rows while the window grows. It takes the arrays because a method of the window would copy all of it.
    @inline(__always)
    static func prefetchStep(
        _ indices: [Int32], after count: Int, rows: [NetWindow.Row], values: [storage_value], bytes: [UInt8]
    ) {
        rows.withUnsafeBufferPointer { rows in
            values.withUnsafeBufferPointer { values in
                bytes.withUnsafeBufferPointer { bytes in
                    guard let contents = Self(rows: rows, values: values, bytes: bytes) else { return }
                    for next in count..<count + prefetchStep { contents.prefetch(indices, after: next) }
                }
            }
        }
    }

    @inline(__always)
    private func row(_ indices: [Int32], _ position: Int) -> UnsafePointer<NetWindow.Row>? {
        guard position < indices.count, indices[position] >= 0 else { return nil }
        return rows + Int(indices[position])
    }
}
