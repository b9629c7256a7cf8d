internal import StorageCore

/// The section of a segment that holds the headers of its commits.
enum CommitCodec {
    private static let actor: UInt8 = 1
    private static let app: UInt8 = 2
    private static let reason: UInt8 = 4
    private static let correlation: UInt8 = 8
    private static let key: UInt8 = 16
    private static let attributes: UInt8 = 32
    private static let sameAsPrevious: UInt8 = 64
    static let extensions: UInt8 = 128

    /// The tag of the clock's reading in the extension block.
    private static let clock: UInt64 = 2

    static func append(_ commits: [CommitSlice], to output: inout ByteBuffer) {
        output.append(varint: UInt64(commits.count))
        // Continuations: only the first commit can have begun earlier, only the last can continue later.
        output.append((commits[0].continuesEarlier ? 1 : 0) | (commits[commits.count - 1].continuesLater ? 2 : 0))
        var time = commits[0].info.time
        // By address: copying a header retains seven fields.
        commits.withUnsafeBufferPointer { commits in
            for index in commits.indices {
                output.append(varint: UInt64(commits[index].eventCount))
                output.append(varint: UInt64(bitPattern: commits[index].info.time &- time))
                time = commits[index].info.time
                let flag = commits[index].info.isExtended ? extensions : 0
                if index > 0, commits[index].info.metadata.isExactly(commits[index - 1].info.metadata) {
                    output.append(sameAsPrevious | flag)
                } else {
                    append(commits[index].info.metadata, flag: flag, to: &output)
                }
                if flag != 0 { appendExtensions(commits[index].info, to: &output) }
            }
        }
    }

    /// - Parameter flag: More bits for the byte of fields.
    static func append(_ metadata: CommitMetadata, flag: UInt8, to output: inout ByteBuffer) {
        var fields = flag
        if metadata.actor != nil { fields |= actor }
        if metadata.app != nil { fields |= app }
        if metadata.reason != nil { fields |= reason }
        if metadata.correlation != nil { fields |= correlation }
        if metadata.idempotencyKey != nil { fields |= key }
        if !metadata.attributes.isEmpty { fields |= attributes }
        output.append(fields)
        if let actor = metadata.actor { output.append(string: actor) }
        if let app = metadata.app { output.append(string: app) }
        if let reason = metadata.reason { output.append(string: reason) }
        if let correlation = metadata.correlation { output.append(string: correlation) }
        if let key = metadata.idempotencyKey { output.append(string: key) }
        guard !metadata.attributes.isEmpty else { return }
        output.append(varint: UInt64(metadata.attributes.count))
        // Sorted, so that the same commit always has the same bytes; by bytes, so that every implementation sorts alike.
        let sorted = metadata.attributes.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
        for (name, value) in sorted {
            output.append(string: name)
            output.append(string: value)
        }
    }

    static func appendExtensions(_ info: CommitInfo, to output: inout ByteBuffer) {
        var block = ByteBuffer(capacity: 16)
        if let reading = info.clock {
            var content = ByteBuffer(capacity: 10)
            content.append(varint: zigzag(reading &- info.time))
            block.append(varint: clock)
            block.append(varint: UInt64(content.count))
            block.append(content.bytes)
        }
        info.extensions.withUnsafeBytes { block.append($0) }
        output.append(varint: UInt64(block.count))
        output.append(block.bytes)
    }

    /// - Returns: An empty array if the bytes are malformed.
    /// - Throws: `unsupported-format` for a header with a required part that this version doesn't know.
    static func read(_ reader: inout ByteReader, of header: SegmentHeader) throws -> [CommitSlice] {
        // Each commit has an event.
        let count = reader.count(bytesEach: 3, atMost: header.count)
        let continuation = reader.skip(1)
        guard !reader.failed, count > 0, Int64(count) == header.lastCommit &- header.firstCommit &+ 1 else { return [] }
        let flags = continuation.pointee
        var commits: [CommitSlice] = []
        commits.reserveCapacity(count)
        var time = header.firstTime
        var metadata: CommitMetadata?
        for index in 0..<count {
            let events = reader.varint()
            let sinceLast = reader.varint()
            let fields = reader.skip(1)
            guard !reader.failed, (1...UInt64(header.count)).contains(events), index > 0 || sinceLast == 0,
                sinceLast <= UInt64(bitPattern: header.lastTime &- time)
            else { return [] }
            time &+= Int64(bitPattern: sinceLast)
            let content = fields.pointee & ~extensions
            guard content <= sameAsPrevious else { return [] }
            if content != sameAsPrevious { metadata = readMetadata(&reader, fields: content) }
            guard let metadata else { return [] }
            var added = (clock: Int64?.none, unknown: [UInt8]())
            if fields.pointee & extensions != 0 {
                guard let read = try readExtensions(reader.slice(), time: time) else { return [] }
                added = read
            }
            let info = CommitInfo(
                number: header.firstCommit &+ Int64(index), time: time, clock: added.clock, metadata: metadata,
                extensions: added.unknown)
            commits.append(CommitSlice(info: info, eventCount: Int(events)))
        }
        guard !reader.failed, reader.remaining == 0, flags < 4, time == header.lastTime else { return [] }
        commits[0].continuesEarlier = flags & 1 != 0
        commits[count - 1].continuesLater = flags & 2 != 0
        return commits
    }

    private static func readExtensions(
        _ block: ByteReader, time: Int64
    ) throws -> (clock: Int64?, unknown: [UInt8])? {
        guard block.remaining > 0 else { return nil }
        var reading: Int64?
        let unknown = try ExtensionBlock.read(block) { tag, content in
            guard tag == clock else { return false }
            reading = time &+ unzigzag(content.varint())
            return true
        }
        guard let unknown, reading.map(Limits.times.contains) ?? true else { return nil }
        return (reading, unknown)
    }

    /// - Returns: Nil if the attributes aren't sorted by the bytes of their names, each name once.
    private static func readMetadata(_ reader: inout ByteReader, fields: UInt8) -> CommitMetadata? {
        func text() -> String { reader.string(atMost: Limits.metadataBytes) }
        var metadata = CommitMetadata()
        if fields & actor != 0 { metadata.actor = text() }
        if fields & app != 0 { metadata.app = text() }
        if fields & reason != 0 { metadata.reason = text() }
        if fields & correlation != 0 { metadata.correlation = text() }
        if fields & key != 0 { metadata.idempotencyKey = text() }
        if fields & attributes != 0 {
            let count = reader.count(bytesEach: 2, atMost: Limits.attributes)
            var last: String?
            for _ in 0..<count {
                let name = text()
                if let last, !last.utf8.lexicographicallyPrecedes(name.utf8) { return nil }
                metadata.attributes[name] = text()
                last = name
            }
            // Two spellings of é are one name.
            guard metadata.attributes.count == count else { return nil }
        }
        return metadata
    }
}
