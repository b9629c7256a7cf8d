internal import CSQLite
internal import StorageLog

/// The texts and blobs of a ``NetWindow``, one after another in an array of bytes.
///
/// Invariants:
/// - A value occupies a block of at least its size; ``blockSize(for:)`` follows from the size alone, so none is kept.
/// - A value that replaces another of the same block size takes its block.
/// - A block that was freed is in the free list of its size, or lost until ``compact(_:)``; ``freeBytes`` counts both.
struct ValueHeap: Sendable {
    /// What the values' `bits` are offsets into.
    private(set) var bytes: [UInt8] = []
    /// Bytes that no value occupies.
    private(set) var freeBytes = 0
    /// Offsets of free blocks, by their size in steps of ``blockStep``.
    private var freeLists = [[Int]](repeating: [], count: Self.largestBlock / Self.blockStep + 1)

    // Short texts get no larger block than they need, because most of them never change, or only to something of the same size.
    private static let smallestFreeBlock = 64
    private static let largestBlock = 16 << 10
    private static let blockStep = 32

    @inline(__always)
    private static func blockSize(for size: Int) -> Int {
        size < smallestFreeBlock ? size : (size + blockStep - 1) / blockStep * blockStep
    }

    /// Stores a copy of a value, replacing another one.
    ///
    /// - Parameter source: The bytes that `value` points into, if it has any.
    /// - Returns: The value, pointing into ``bytes``.
    @inline(__always)
    mutating func store(
        _ value: storage_value, from source: UnsafePointer<UInt8>, replacing old: storage_value
    ) -> storage_value {
        guard value.hasBytes else {
            free(old)
            return value
        }
        let size = Int(value.size)
        let new = UnsafeBufferPointer(start: source + Int(value.bits), count: size)
        let offset: Int
        if let block = block(replacing: old, for: size) {
            bytes.withUnsafeMutableBufferPointer { _ = $0[block..<block + size].update(fromContentsOf: new) }
            offset = block
        } else {
            offset = bytes.count
            append(new)
        }
        return storage_value(type: value.type, size: value.size, bits: UInt64(offset))
    }

    /// Frees a value's block.
    @inline(__always)
    mutating func free(_ value: storage_value) {
        guard value.hasBytes else { return }
        let size = Self.blockSize(for: Int(value.size))
        freeBytes += size
        if size >= Self.smallestFreeBlock, size <= Self.largestBlock {
            freeLists[size / Self.blockStep].append(Int(value.bits))
        }
    }

    /// A free block for a value, preferably that of the value it replaces.
    @inline(__always)
    private mutating func block(replacing old: storage_value, for size: Int) -> Int? {
        let needed = Self.blockSize(for: size)
        if old.hasBytes {
            let found = Self.blockSize(for: Int(old.size))
            if needed == found || needed < found && found < Self.smallestFreeBlock {
                freeBytes += found - needed
                return Int(old.bits)
            }
            free(old)
        }
        guard needed >= Self.smallestFreeBlock, needed <= Self.largestBlock,
            let block = freeLists[needed / Self.blockStep].popLast()
        else { return nil }
        freeBytes -= needed
        return block
    }

    @inline(__always)
    private mutating func append(_ text: UnsafeBufferPointer<UInt8>) {
        bytes.append(contentsOf: text)
        let padding = Self.blockSize(for: text.count) - text.count
        if padding > 0 { bytes.append(contentsOf: repeatElement(0, count: padding)) }
    }

    /// Closes the gaps between the values, which must be all that point here.
    mutating func compact(_ values: inout [storage_value]) {
        var old: [UInt8] = []
        old.reserveCapacity(bytes.capacity)
        swap(&old, &bytes)
        old.withUnsafeBufferPointer { old in
            for index in values.indices where values[index].hasBytes {
                let text = UnsafeBufferPointer(
                    rebasing: old[Int(values[index].bits)...].prefix(Int(values[index].size)))
                values[index].bits = UInt64(bytes.count)
                append(text)
            }
        }
        for list in freeLists.indices { freeLists[list] = [] }
        freeBytes = 0
    }

    /// Ensures that ``bytes`` has an address, even if only numbers were stored.
    mutating func terminate() { bytes.append(0) }

    /// Removes all values and reserves memory.
    mutating func reset(reserving size: Int) {
        bytes.reset(reservingBytes: size, onLargePages: true)
        for list in freeLists.indices { freeLists[list].removeAll() }
        freeBytes = 0
    }
}
