internal import StorageCore

/// The columns of a segment's row, by which a reader can skip it. The body repeats them under the checksum, so that a changed
/// column is detected.
package struct SegmentHeader: Equatable, Sendable {
    package var first: Int64
    package var last: Int64
    package var firstCommit: Int64
    package var lastCommit: Int64
    package var firstTime: Int64
    package var lastTime: Int64
    package var entities: [UInt32]
    /// Length of the uncompressed body.
    package var size = 0

    package var count: Int { Int(last - first + 1) }

    /// Returns the header if its numbers are valid. Call it once, where they are read from a file: afterwards nothing that is
    /// computed from them overflows, and no loop over them is endless.
    package func checked() throws -> SegmentHeader {
        guard [first, last, firstCommit, lastCommit].allSatisfy(Limits.numbers.contains),
            (0..<Int64(Limits.segmentEvents)).contains(last - first),
            // Each commit has an event, and so has each entity.
            (0...last - first).contains(lastCommit - firstCommit), entities.count <= count,
            Limits.times.contains(firstTime), Limits.times.contains(lastTime), firstTime <= lastTime
        else { throw StorageError.corruptLog("the numbers of row @\(first) make no sense") }
        return self
    }

    /// Returns the header if its numbers and its entities are valid: where the entities are read as well.
    func checkedWithEntities() throws -> SegmentHeader {
        guard !entities.isEmpty, entitiesAscend else {
            throw StorageError.corruptLog("the entities of row @\(first) make no sense")
        }
        return try checked()
    }

    /// Whether the ids are as an encoder writes them: each once, in rising order, and each one that an entity can have.
    private var entitiesAscend: Bool {
        var previous: UInt32 = 0
        for entity in entities {
            guard entity > previous, StreamIdentifier.isEntity(UInt64(entity)) else { return false }
            previous = entity
        }
        return true
    }

    func with(size: Int) -> SegmentHeader {
        var copy = self
        copy.size = size
        return copy
    }

    func append(to output: inout ByteBuffer) {
        output.append(varint: UInt64(bitPattern: first))
        output.append(varint: UInt64(count))
        output.append(varint: UInt64(bitPattern: firstCommit))
        output.append(varint: UInt64(lastCommit - firstCommit))
        output.append(varint: zigzag(firstTime))
        output.append(varint: UInt64(bitPattern: lastTime &- firstTime))
        output.append(varint: UInt64(entities.count))
        for entity in entities { output.append(varint: UInt64(entity)) }
    }

    package init(
        first: Int64, last: Int64, firstCommit: Int64, lastCommit: Int64, firstTime: Int64, lastTime: Int64,
        entities: [UInt32]
    ) {
        self.first = first
        self.last = last
        self.firstCommit = firstCommit
        self.lastCommit = lastCommit
        self.firstTime = firstTime
        self.lastTime = lastTime
        self.entities = entities
    }

    init(from reader: inout ByteReader) {
        first = Int64(bitPattern: reader.varint())
        last = first &+ Int64(bitPattern: reader.varint()) &- 1
        firstCommit = Int64(bitPattern: reader.varint())
        lastCommit = firstCommit &+ Int64(bitPattern: reader.varint())
        firstTime = unzigzag(reader.varint())
        lastTime = firstTime &+ Int64(bitPattern: reader.varint())
        entities = []
        for _ in 0..<reader.count(bytesEach: 1, atMost: Limits.segmentEvents) {
            entities.append(UInt32(reader.varint(atMost: Int(UInt32.max))))
        }
    }

    /// The `entities` column: ids in rising order, as varints.
    package var entityBytes: [UInt8] {
        var buffer = ByteBuffer(capacity: 16)
        for entity in entities { buffer.append(varint: UInt64(entity)) }
        return [UInt8](buffer.bytes)
    }
}
