import CSQLite

@testable import StorageLog

/// The canonical bytes of events and commits, as `Format.md` specifies them. Nothing in the library uses them yet.
struct CanonicalBytes {
    let store: [UInt8]

    /// A line for each commit and event of a log, in order.
    static func lines(_ database: Connection) throws -> [String] {
        let canonical = CanonicalBytes(store: try StoreLineage.load(database).store)
        var lines: [String] = []
        var open: (info: CommitInfo, first: Int64, events: [String])?
        func close() {
            guard let commit = open else { return }
            let bytes = canonical.commit(commit.info, first: commit.first, count: commit.events.count)
            lines += ["commit \(commit.info.number) \(hex(bytes))"] + commit.events
            open = nil
        }
        try LogReader(database).forEachBatch(in: 1 ... .max) { batch in
            for (info, events) in batch.commits {
                if open?.info.number != info.number {
                    close()
                    open = (info, batch.header.first + Int64(events.lowerBound), [])
                }
                for index in events {
                    let (header, payload) = canonical.event(batch, index, commit: info.number)
                    let position = batch.header.first + Int64(index)
                    open?.events.append("event \(position) \(hex(header)) \(hex(payload))")
                }
            }
            return true
        }
        close()
        return lines
    }

    private static func hex(_ bytes: [UInt8]) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    private func commit(_ info: CommitInfo, first: Int64, count: Int) -> [UInt8] {
        var output = ByteBuffer(capacity: 64)
        output.append(2)
        store.withUnsafeBytes { output.append($0) }
        output.append(varint: UInt64(info.number))
        output.append(varint: UInt64(first))
        output.append(varint: UInt64(count))
        output.append(varint: zigzag(info.time))
        CommitCodec.append(info.metadata, flag: info.isExtended ? CommitCodec.extensions : 0, to: &output)
        if info.isExtended { CommitCodec.appendExtensions(info, to: &output) }
        return [UInt8](output.bytes)
    }

    private func event(_ batch: EventBatch, _ index: Int, commit: Int64) -> (header: [UInt8], payload: [UInt8]) {
        batch.withView { view in
            let shape = view.shape(of: index)
            var header = ByteBuffer(capacity: 64)
            header.append(1)
            store.withUnsafeBytes { header.append($0) }
            header.append(varint: UInt64(batch.header.first) + UInt64(index))
            header.append(varint: UInt64(commit))
            header.append(varint: UInt64(shape.entity))
            header.append(UInt8(shape.operation))
            header.append(varint: UInt64(view.events[index].previous))

            var payload = ByteBuffer(capacity: 256)
            func append(_ value: UnsafePointer<storage_value>, count: Int) {
                KeyCoding.encode(value, count: count, bytes: view.bytes).withUnsafeBytes { payload.append($0) }
            }
            payload.append(varint: UInt64(shape.key_count))
            append(view.key(of: index), count: Int(shape.key_count))
            let columns = Int(shape.column_count)
            payload.append(varint: UInt64(columns))
            let values = view.columns(of: index)
            for place in (0..<columns).sorted(by: { shape.columns[$0] < shape.columns[$1] }) {
                payload.append(varint: UInt64(shape.columns[place]))
                append(values + place, count: 1)
                if shape.operation == UInt32(STORAGE_UPDATE) { append(values + columns + place, count: 1) }
            }
            return ([UInt8](header.bytes), [UInt8](payload.bytes))
        }
    }
}
