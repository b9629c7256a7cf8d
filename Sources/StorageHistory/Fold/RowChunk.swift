internal import CSQLite
internal import StorageLog

/// Records one after another.
///
/// Not `Sendable`: one thread uses it.
final class RowChunk {
    private var memory = UnsafeMutableRawBufferPointer.allocate(byteCount: 64, alignment: alignment)
    private var count = 0
    private static let alignment = MemoryLayout<RowRecord.Header>.alignment

    deinit { memory.deallocate() }

    var start: UnsafeMutableRawPointer { memory.baseAddress! }
    var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: memory[..<count]) }

    func removeAll() { count = 0 }

    func replace(with bytes: UnsafeRawBufferPointer) {
        count = 0
        reserve(bytes.count)
        memory.copyMemory(from: bytes)
        count = bytes.count
    }

    /// Adds a row of a window.
    ///
    /// - Parameter width: The numbers of key columns and of others.
    func append(_ row: NetWindow.Row, width: (key: Int, others: Int), in contents: NetWindow.Contents) {
        let values = UnsafeBufferPointer(start: contents.values + row.values, count: width.key + width.others)
        var columns: UInt64 = 0
        var (valueCount, byteCount) = (0, 0)
        for (index, value) in values.enumerated() where value.type != NetWindow.unknown.type {
            if index >= width.key { columns |= 1 << UInt64(index - width.key) }
            valueCount += 1
            if value.hasBytes { byteCount += Int(value.size) }
        }
        var offset = MemoryLayout<RowRecord.Header>.stride + valueCount * MemoryLayout<storage_value>.stride
        let size = (offset + byteCount + Self.alignment - 1) / Self.alignment * Self.alignment
        reserve(size)
        let record = RowRecord(start + count)
        record.start.initializeMemory(
            as: RowRecord.Header.self,
            to: RowRecord.Header(
                size: UInt64(size), position: row.position, columns: columns, flags: RowRecord.Flags(row)))
        // Its end is written to the file, too, if no value fills it.
        (record.start + size - Self.alignment).storeBytes(of: 0, as: UInt64.self)
        var next = record.values
        for value in values where value.type != NetWindow.unknown.type {
            var stored = value
            if value.hasBytes {
                stored.bits = UInt64(offset)
                (record.start + offset).copyMemory(from: contents.bytes + Int(value.bits), byteCount: Int(value.size))
                offset += Int(value.size)
            }
            next.initialize(to: stored)
            next += 1
        }
        count += size
    }

    private func reserve(_ more: Int) {
        guard count + more > memory.count else { return }
        let larger = UnsafeMutableRawBufferPointer.allocate(
            byteCount: max(count + more, 2 * memory.count), alignment: Self.alignment)
        larger.copyMemory(from: bytes)
        memory.deallocate()
        memory = larger
    }
}
