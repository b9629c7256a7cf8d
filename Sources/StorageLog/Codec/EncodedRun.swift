internal import CSQLite
internal import StorageCore

/// The events of a run, split into shapes, back-links and the values of each column, ready to be written one after another.
///
/// A noncopyable value rather than a part of ``SegmentEncoder``, which is a class: there each event would cost a dozen checks of
/// exclusive access and as many reference counts.
struct EncodedRun: ~Copyable {
    private(set) var links = ByteBuffer()
    private(set) var shapeIndexes = ByteBuffer()
    private(set) var streams = ColumnStreams()
    private var streamOfColumn: [UInt64: Int] = [:]

    private var localShapes: [RunShape] = []
    private var localOfShape: [Int32] = []
    /// Runs merged from several segments contain the same shape several times.
    private var localOfContent: [ShapeContent: Int] = [:]

    /// For each event, the index of its row within this run; and for each row, the last known value of each column.
    private var slotOfEvent: [Int32] = []
    private var slots = ValueDictionary()
    private var columnIndices = ColumnIndexMap()

    /// The entities of the events, sorted.
    var entities: [UInt32] { Set(localShapes.map(\.entity)).sorted() }

    func appendShapes(to section: inout ByteBuffer) {
        section.append(varint: UInt64(localShapes.count))
        for shape in localShapes {
            section.append(varint: UInt64(shape.entity))
            section.append(varint: UInt64(shape.operation))
            section.append(varint: UInt64(shape.keyStreams.count))
            section.append(varint: UInt64(shape.columns.count))
            var previous: UInt32 = 0
            for column in shape.columns {
                section.append(varint: zigzag(Int64(column) - Int64(previous)))
                previous = column
            }
        }
    }
}

private struct ShapeContent: Hashable {
    let entity: UInt32
    let operation: UInt32
    let columns: [UInt32]
}

extension EncodedRun {
    mutating func collect(_ view: EventView, range: Range<Int>, first: Int64) throws {
        links.removeAll()
        shapeIndexes.removeAll()
        streams.removeAll()
        streamOfColumn.removeAll(keepingCapacity: true)
        localShapes.removeAll(keepingCapacity: true)
        localOfShape = [Int32](repeating: -1, count: view.shapeCount)
        localOfContent.removeAll(keepingCapacity: true)
        slotOfEvent.removeAll(keepingCapacity: true)
        slots.reset()
        columnIndices.reset()

        for index in range {
            let event = view.events[index]
            let position = first + Int64(index - range.lowerBound)
            let local = localShape(view, Int(event.shape))
            shapeIndexes.append(varint: UInt64(local))
            guard (0..<position).contains(event.previous) else {
                throw StorageError.corruptLog("event @\(position) points to @\(event.previous)")
            }
            let distance = event.previous == 0 ? 0 : position - event.previous
            links.append(varint: UInt64(distance))
            let linked = distance > 0 && event.previous >= first ? Int(event.previous - first) : nil
            try append(view, index, shape: local, linked: linked.map { $0 + range.lowerBound }, base: range.lowerBound)
        }
    }

    private mutating func append(_ view: EventView, _ index: Int, shape local: Int, linked: Int?, base: Int) throws {
        let shape = localShapes[local]
        let streams = streams.base
        let key = view.key(of: index)
        let slot: Int
        if let linked {
            slot = Int(slotOfEvent[linked - base])
            let earlier = view.key(of: linked)
            for part in shape.keyStreams.indices where !view.same(key[part], earlier[part]) {
                throw StorageError.corruptLog("a back-link joins events of two rows")
            }
        } else {
            slot = slots.add(columns: columnIndices.count(of: shape.entity))
            for (part, stream) in shape.keyStreams.enumerated() { streams[stream].append(key[part], view) }
        }
        slotOfEvent.append(Int32(slot))

        let values = view.columns(of: index)
        let count = shape.columnStreams.count
        let update = shape.operation == UInt32(STORAGE_UPDATE)
        let fresh = shape.operation == UInt32(STORAGE_INSERT)
        if !fresh {
            for column in 0..<count {
                let known = slots.value(slot, shape.columnIndices[column])
                if let known, view.same(view.values[known], values[column]) {
                    streams[shape.columnStreams[column]].appendKnown()
                } else {
                    streams[shape.columnStreams[column]].append(values[column], view)
                }
            }
        }
        if fresh { slots.clear(slot) }
        guard fresh || update else { return }
        let newValues = update ? values + count : values
        for column in 0..<count {
            if update {
                streams[shape.columnStreams[column]].append(newValues[column], view, old: values[column])
            } else {
                streams[shape.columnStreams[column]].append(newValues[column], view)
            }
            slots.set(slot, shape.columnIndices[column], value: newValues + column - view.values)
        }
    }

    private mutating func localShape(_ view: EventView, _ shape: Int) -> Int {
        if localOfShape[shape] >= 0 { return Int(localOfShape[shape]) }
        let source = view.shapes[shape]
        let columns = (0..<Int(source.column_count)).map { source.columns[$0] }
        let content = ShapeContent(entity: source.entity, operation: source.operation, columns: columns)
        if let known = localOfContent[content] {
            localOfShape[shape] = Int32(known)
            return known
        }
        localOfContent[content] = localShapes.count
        let local = RunShape(
            entity: source.entity, operation: source.operation, columns: columns,
            keyStreams: (0..<source.key_count).map { stream(entity: source.entity, part: $0) },
            columnStreams: columns.map { stream(column: $0) },
            columnIndices: columns.map { columnIndices.index(of: $0, in: source.entity) })
        localShapes.append(local)
        localOfShape[shape] = Int32(localShapes.count - 1)
        return localShapes.count - 1
    }

    private mutating func stream(entity: UInt32, part: UInt32) -> Int {
        stream(identifier: StreamIdentifier.key(entity: entity, part: part))
    }

    private mutating func stream(column: UInt32) -> Int { stream(identifier: StreamIdentifier.column(column)) }

    private mutating func stream(identifier: UInt64) -> Int {
        if let known = streamOfColumn[identifier] { return known }
        let index = streams.add(identifier)
        streamOfColumn[identifier] = index
        return index
    }
}
