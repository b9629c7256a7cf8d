import FaultSupport
import Foundation

/// A recorded call that changed the disk.
enum DiskCall {
    case open(handle: UInt32, path: String, isNew: Bool, syncsNames: Bool)
    case write(handle: UInt32, offset: Int, bytes: ArraySlice<UInt8>)
    case truncate(handle: UInt32, size: Int)
    case sync(handle: UInt32)
    case delete(path: String, syncsNames: Bool)
    case rename(from: String, to: String)
    case link(from: String, to: String)
    case syncName(path: String)

    /// Ends recording and returns the calls that were recorded.
    static func recorded() -> [DiskCall] {
        var size = 0
        guard let start = fault_record_end(&size) else { return [] }
        let bytes = [UInt8](UnsafeBufferPointer(start: start, count: size))
        var calls: [DiskCall] = []
        var place = 0
        let header = MemoryLayout<fault_record>.size
        while place + header <= bytes.count {
            let record = bytes.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: place, as: fault_record.self) }
            let end = place + header + Int(record.size)
            calls.append(DiskCall(record, bytes[(place + header)..<end]))
            place = end
        }
        return calls
    }

    private init(_ record: fault_record, _ bytes: ArraySlice<UInt8>) {
        let offset = Int(record.offset)
        func names() -> (String, String) {
            let parts = bytes.split(separator: 0).map { String(decoding: $0, as: UTF8.self) }
            return (parts.first ?? "", parts.last ?? "")
        }
        switch Int(record.kind) {
        case FAULT_RECORD_OPEN:
            self = .open(
                handle: record.handle, path: names().0, isNew: offset & 1 != 0, syncsNames: offset & 2 != 0)
        case FAULT_RECORD_WRITE: self = .write(handle: record.handle, offset: offset, bytes: bytes)
        case FAULT_RECORD_TRUNCATE: self = .truncate(handle: record.handle, size: offset)
        case FAULT_RECORD_SYNC: self = .sync(handle: record.handle)
        case FAULT_RECORD_DELETE: self = .delete(path: names().0, syncsNames: offset & 1 != 0)
        case FAULT_RECORD_RENAME: self = .rename(from: names().0, to: names().1)
        case FAULT_RECORD_LINK: self = .link(from: names().0, to: names().1)
        default: self = .syncName(path: names().0)
        }
    }
}
