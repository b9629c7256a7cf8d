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
    init(_ row: NetWindow.Row) {
        self = []
        if row.wasThere { insert(.wasThere) }
        if row.isThere { insert(.isThere) }
        if row.isWhole { insert(.isWhole) }
    }
}
