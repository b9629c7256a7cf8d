internal import CSQLite

extension GrowingBuffer where Item == UInt8 {
    /// A value as a type byte followed by its content: equal values have equal bytes.
    ///
    /// - Parameter base: The memory that the value's `bits` are an offset into; nil if they are an address.
    @inline(__always)
    mutating func append(value: storage_value, from base: UnsafePointer<UInt8>?) {
        append(UInt8(truncatingIfNeeded: value.type))
        if value.hasBytes {
            append(varint: UInt64(value.size))
            append(value.bytes(from: base))
        } else if !value.isNull {
            append(fixed: value.bits)
        }
    }

    mutating func append(value: ExactValue) { value.withRaw { append(value: $0, from: nil) } }
}

extension ByteReader {
    /// Reads a value that a buffer has written.
    mutating func value() -> ExactValue {
        switch Int32(byte()) {
        case SQLITE_INTEGER: .integer(Int64(bitPattern: fixed()))
        case SQLITE_FLOAT: .real(fixed())
        case SQLITE_TEXT: .text(bytes())
        case SQLITE_BLOB: .blob(bytes())
        default: .null
        }
    }

    mutating func byte() -> UInt8 {
        let start = skip(1)
        return failed ? 0 : start.pointee
    }

    /// Reads a count, then that many bytes.
    private mutating func bytes() -> [UInt8] {
        let slice = slice()
        return Array(UnsafeBufferPointer(start: slice.next, count: slice.remaining))
    }
}
