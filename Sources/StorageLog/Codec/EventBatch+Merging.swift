internal import CSQLite

extension EventBatch {
    /// Merges the events of several consecutive segments into one batch.
    ///
    /// - Parameter batches: At least one. The first segment's extensions, written by a newer version, are kept.
    convenience init(merging batches: [EventBatch]) {
        let slices = Self.joined(batches)
        let infos = (first: slices[0].info, last: slices[slices.count - 1].info)
        let header = SegmentHeader(
            first: batches[0].header.first, last: batches[batches.count - 1].header.last,
            firstCommit: infos.first.number, lastCommit: infos.last.number, firstTime: infos.first.time,
            lastTime: infos.last.time, entities: Set(batches.flatMap(\.header.entities)).sorted())
        let valueCount = batches.reduce(0) { count, batch in
            batch.withView { view in (0..<view.count).reduce(count) { $0 + view.valueCount(of: $1) } }
        }
        // A separate pool, because merging is rare.
        let pool = MemoryPool()
        self.init(
            header: header, filled: header.count, slices: slices, extensions: batches[0].extensions,
            shapes: batches.flatMap { batch in
                batch.withView { view in (0..<view.shapeCount).map { DecodedShape(view.shapes[$0]) } }
            }, valueCount: valueCount, bytes: pool.take(batches.reduce(0) { $0 + $1.textBytes }), pool: pool)
        var end = (event: 0, value: 0, byte: 0, shape: 0)
        for batch in batches { batch.withView { copy($0, to: &end) } }
    }

    /// - Parameter end: The end of what was copied from the previous segments.
    private func copy(_ view: EventView, to end: inout (event: Int, value: Int, byte: Int, shape: Int)) {
        let bytes = bytes
        for index in 0..<view.count {
            let key = view.key(of: index)
            var event = view.events[index]
            event.shape += UInt32(end.shape)
            event.first_value = UInt32(end.value)
            events[end.event] = event
            end.event += 1
            for offset in 0..<view.valueCount(of: index) {
                var value = key[offset]
                if value.hasBytes {
                    (bytes + end.byte).update(from: view.bytes + Int(value.bits), count: Int(value.size))
                    value.bits = UInt64(end.byte)
                    end.byte += Int(value.size)
                }
                values[end.value] = value
                end.value += 1
            }
        }
        end.shape += view.shapeCount
    }

    /// The commits; one that continues in the next segment is joined with its continuation.
    private static func joined(_ batches: [EventBatch]) -> [CommitSlice] {
        var slices: [CommitSlice] = []
        for slice in batches.lazy.flatMap(\.slices) {
            if let last = slices.last, last.info.number == slice.info.number {
                slices[slices.count - 1].eventCount += slice.eventCount
                slices[slices.count - 1].continuesLater = slice.continuesLater
            } else {
                slices.append(slice)
            }
        }
        return slices
    }
}
