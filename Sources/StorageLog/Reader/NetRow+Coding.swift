internal import Foundation
internal import StorageCore

/// A net change as bytes, for temporary tables that only this process reads. The row's key is stored separately.
extension NetRow {
    package var bytes: [UInt8] {
        var buffer = ByteBuffer(capacity: 256)
        buffer.append(varint: UInt64(row.entity))
        buffer.append(varint: UInt64(firstEntity))
        let isNewInserted = !existed && inserted == new
        buffer.append((existed ? 1 : 0) | (exists ? 2 : 0) | (isWhole ? 4 : 0) | (isNewInserted ? 8 : 0))
        for cells in [old, new, isNewInserted ? [] : inserted] {
            buffer.append(varint: UInt64(cells.count))
            for cell in cells {
                buffer.append(varint: UInt64(cell.column))
                buffer.append(value: cell.value)
            }
        }
        return [UInt8](buffer.bytes)
    }

    package init(bytes: UnsafeRawBufferPointer, key: [UInt8]) throws {
        guard let start = bytes.baseAddress else { throw StorageError.corruptLog("a net change is empty") }
        var reader = ByteReader(start.assumingMemoryBound(to: UInt8.self), count: bytes.count)
        let row = RowAddress(entity: UInt32(truncatingIfNeeded: reader.varint()), key: key)
        let first = UInt32(truncatingIfNeeded: reader.varint())
        let flags = reader.byte()
        let images = (0..<3).map { _ in
            (0..<reader.count(bytesEach: 2)).map { _ in
                Cell(column: UInt32(truncatingIfNeeded: reader.varint()), value: reader.value())
            }
        }
        guard !reader.failed else { throw StorageError.corruptLog("a net change is cut short") }
        self.init(
            row: row, firstEntity: first, existed: flags & 1 != 0, exists: flags & 2 != 0, isWhole: flags & 4 != 0,
            old: images[0], new: images[1], inserted: flags & 8 != 0 ? images[1] : images[2])
    }
}
