internal import Foundation
internal import StorageCore

/// A net change as bytes, for temporary tables: nothing outside this process ever reads them. The row's key is kept beside
/// them.
extension NetRow {
    package var bytes: [UInt8] {
        var buffer = ByteBuffer(capacity: 256)
        buffer.append(varint: UInt64(row.entity))
        buffer.append(varint: UInt64(firstEntity))
        buffer.append((existed ? 1 : 0) | (exists ? 2 : 0) | (isWhole ? 4 : 0))
        for cells in [old, new] {
            buffer.append(varint: UInt64(cells.count))
            for cell in cells {
                buffer.append(varint: UInt64(cell.column))
                cell.value.append(to: &buffer)
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
        let images = (0..<2).map { _ in
            (0..<reader.count(bytesEach: 2)).map { _ in
                Cell(column: UInt32(truncatingIfNeeded: reader.varint()), value: ExactValue(from: &reader))
            }
        }
        guard !reader.failed else { throw StorageError.corruptLog("a net change is cut short") }
        self.init(
            row: row, firstEntity: first, existed: flags & 1 != 0, exists: flags & 2 != 0, isWhole: flags & 4 != 0,
            old: images[0], new: images[1])
    }
}

extension ExactValue {
    fileprivate func append(to buffer: inout ByteBuffer) {
        switch self {
        case .null: buffer.append(0)
        case .integer(let value):
            buffer.append(1)
            buffer.append(varint: zigzag(value))
        case .real(let bits):
            buffer.append(2)
            buffer.append(fixed: bits)
        case .text(let bytes), .blob(let bytes):
            if case .text = self { buffer.append(3) } else { buffer.append(4) }
            buffer.append(varint: UInt64(bytes.count))
            bytes.withUnsafeBytes { buffer.append($0) }
        }
    }

    fileprivate init(from reader: inout ByteReader) {
        switch reader.byte() {
        case 1: self = .integer(unzigzag(reader.varint()))
        case 2: self = .real(reader.fixed())
        case 3: self = .text(reader.bytes())
        case 4: self = .blob(reader.bytes())
        default: self = .null
        }
    }
}

extension ByteReader {
    fileprivate mutating func byte() -> UInt8 {
        let start = skip(1)
        return failed ? 0 : start.pointee
    }
}
