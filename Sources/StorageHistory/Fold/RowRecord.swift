internal import CSQLite
internal import StorageLog

/// A row of a window as it is written to a run: a header, the values of its key, those of the columns that the window knows, and the
/// bytes of its texts and blobs. All of it is aligned to eight bytes; it is read where it lies.
struct RowRecord {
    struct Header {
        /// The bytes of the record.
        var size: UInt64
        /// The position of the row's last event.
        var position: Int64
        /// The columns that have a value, one bit each.
        var columns: UInt64
        var flags: Flags
    }

    struct Flags: OptionSet {
        let rawValue: UInt64
        static let wasThere = Flags(rawValue: 1)
        static let isThere = Flags(rawValue: 2)
        /// No earlier column value remains.
        static let isWhole = Flags(rawValue: 4)
    }

    let start: UnsafeMutableRawPointer

    init(_ start: UnsafeMutableRawPointer) { self.start = start }

    var header: Header { start.assumingMemoryBound(to: Header.self).pointee }
    var size: Int { Int(header.size) }
    /// Those of the key come first.
    var values: UnsafeMutablePointer<storage_value> {
        (start + MemoryLayout<Header>.stride).assumingMemoryBound(to: storage_value.self)
    }
    /// What the values' `bits` are offsets into.
    var bytes: UnsafePointer<UInt8> { UnsafePointer(start.assumingMemoryBound(to: UInt8.self)) }
}

extension RowRecord.Flags {
    fileprivate init(_ row: NetWindow.Row) {
        self = []
        if row.wasThere { insert(.wasThere) }
        if row.isThere { insert(.isThere) }
        if row.isWhole { insert(.isWhole) }
    }
}

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
