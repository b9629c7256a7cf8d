/// The section of a log row that holds the headers of its commits.
enum CommitCodec {
    private static let actor: UInt8 = 1
    private static let app: UInt8 = 2
    private static let reason: UInt8 = 4
    private static let correlation: UInt8 = 8
    private static let key: UInt8 = 16
    private static let attributes: UInt8 = 32
    private static let sameAsPrevious: UInt8 = 64

    static func append(_ commits: [CommitSlice], to output: inout ByteBuffer) {
        output.append(varint: UInt64(commits.count))
        // Continuations: only the first commit can have begun earlier, only the last can go on.
        output.append((commits[0].continuesEarlier ? 1 : 0) | (commits[commits.count - 1].continuesLater ? 2 : 0))
        var time = commits[0].info.time
        var previous: CommitMetadata?
        for commit in commits {
            output.append(varint: UInt64(commit.eventCount))
            output.append(varint: UInt64(bitPattern: commit.info.time &- time))
            time = commit.info.time
            if let previous, commit.info.metadata.isExactly(previous) {
                output.append(sameAsPrevious)
            } else {
                append(commit.info.metadata, to: &output)
            }
            previous = commit.info.metadata
        }
    }

    private static func append(_ metadata: CommitMetadata, to output: inout ByteBuffer) {
        var fields: UInt8 = 0
        if metadata.actor != nil { fields |= actor }
        if metadata.app != nil { fields |= app }
        if metadata.reason != nil { fields |= reason }
        if metadata.correlation != nil { fields |= correlation }
        if metadata.idempotencyKey != nil { fields |= key }
        if !metadata.attributes.isEmpty { fields |= attributes }
        output.append(fields)
        for field in [
            metadata.actor, metadata.app, metadata.reason, metadata.correlation, metadata.idempotencyKey,
        ] {
            if let field { output.append(string: field) }
        }
        guard !metadata.attributes.isEmpty else { return }
        output.append(varint: UInt64(metadata.attributes.count))
        // Sorted, so that the same commit always has the same bytes.
        for (name, value) in metadata.attributes.sorted(by: { $0.key < $1.key }) {
            output.append(string: name)
            output.append(string: value)
        }
    }

    /// - Returns: Nothing where the bytes make no sense.
    static func read(_ reader: inout ByteReader, of header: SegmentHeader) -> [CommitSlice] {
        let (firstCommit, firstTime) = (header.firstCommit, header.firstTime)
        // Each commit has an event.
        let count = reader.count(bytesEach: 3, atMost: header.count)
        let continuation = reader.skip(1)
        guard !reader.failed, count > 0 else { return [] }
        let flags = continuation.pointee
        var commits: [CommitSlice] = []
        commits.reserveCapacity(count)
        var time = firstTime
        var metadata = CommitMetadata()
        for index in 0..<count {
            let events = reader.varint()
            time = time &+ Int64(bitPattern: reader.varint())
            let fields = reader.skip(1)
            guard !reader.failed, (1...UInt64(header.count)).contains(events) else { return [] }
            // A field that isn't known can't be passed over, because nothing says how long it is.
            guard fields.pointee == sameAsPrevious || fields.pointee < sameAsPrevious else { return [] }
            if fields.pointee != sameAsPrevious { metadata = readMetadata(&reader, fields: fields.pointee) }
            let info = CommitInfo(number: firstCommit &+ Int64(index), time: time, metadata: metadata)
            commits.append(CommitSlice(info: info, eventCount: Int(events)))
        }
        guard !reader.failed, reader.remaining == 0, flags < 4 else { return [] }
        commits[0].continuesEarlier = flags & 1 != 0
        commits[count - 1].continuesLater = flags & 2 != 0
        return commits
    }

    private static func readMetadata(_ reader: inout ByteReader, fields: UInt8) -> CommitMetadata {
        var metadata = CommitMetadata()
        if fields & actor != 0 { metadata.actor = reader.string() }
        if fields & app != 0 { metadata.app = reader.string() }
        if fields & reason != 0 { metadata.reason = reader.string() }
        if fields & correlation != 0 { metadata.correlation = reader.string() }
        if fields & key != 0 { metadata.idempotencyKey = reader.string() }
        if fields & attributes != 0 {
            for _ in 0..<reader.count(bytesEach: 2, atMost: Limits.attributes) {
                let name = reader.string()
                metadata.attributes[name] = reader.string()
            }
        }
        return metadata
    }
}
