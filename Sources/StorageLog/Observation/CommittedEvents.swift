internal import CSQLite
internal import Foundation

/// The events of one transaction that has just become durable, lent to the observers.
///
/// Nothing of it is copied or decoded until somebody asks. It is valid only during the notification; ``batch(byteLimit:where:)`` is what
/// can be kept and handed on.
package struct CommittedEvents {
    package let view: EventView
    /// The position of the first event.
    package let first: Int64
    /// The transaction's commits that have events, with their events' places.
    package let commits: [(info: CommitInfo, events: Range<Int>)]
    package let catalog: Catalog
    /// What was asked for beside the events. It isn't part of a ``batch(byteLimit:where:)``.
    package let attached: AuxiliaryValues

    /// The last position of the transaction.
    package var last: Int64 { first + Int64(view.count) - 1 }

    /// The changed rows' keys of the entities that have this name, in their canonical form.
    package func keys(of name: String) -> Set<[UInt8]> {
        var keys: Set<[UInt8]> = []
        // Events of one entity come in runs.
        var entity: (id: UInt32, isWanted: Bool)?
        for index in 0..<view.count {
            let shape = view.shape(of: index)
            if entity?.id != shape.entity {
                entity = (shape.entity, catalog.entity(id: shape.entity)?.name.utf8.elementsEqual(name.utf8) ?? false)
            }
            guard entity?.isWanted ?? false else { continue }
            keys.insert(KeyCoding.encode(view.key(of: index), count: Int(shape.key_count), bytes: view.bytes))
        }
        return keys
    }

    /// All events as a batch of its own, as if it had been read from the log; nil where none of them is of an entity
    /// that is wanted, or where they take more than `byteLimit`: then the log is where to read them.
    package func batch(byteLimit: Int = 1 << 20, where isWanted: (UInt32) -> Bool) -> EventBatch? {
        guard view.count > 0, !commits.isEmpty, concerns(isWanted), size <= byteLimit else { return nil }
        return EventBatch(copying: self)
    }

    /// Whether any event is of an entity that is wanted.
    package func concerns(_ isWanted: (UInt32) -> Bool) -> Bool {
        var last: UInt32?
        for index in 0..<view.count {
            let entity = view.shape(of: index).entity
            if entity == last { continue }
            if isWanted(entity) { return true }
            last = entity
        }
        return false
    }

    /// How many values the events have.
    var valueCount: Int {
        view.count == 0 ? 0 : Int(view.events[view.count - 1].first_value) + view.valueCount(of: view.count - 1)
    }

    /// About how much memory the events take.
    private var size: Int {
        view.count * MemoryLayout<storage_event>.stride + valueCount * MemoryLayout<storage_value>.stride + byteCount
    }

    /// How far the texts and blobs reach: they lie in the order of the values.
    var byteCount: Int {
        for index in stride(from: valueCount - 1, through: 0, by: -1) {
            let value = view.values[index]
            guard value.hasBytes else { continue }
            return Int(value.bits) + Int(value.size)
        }
        return 0
    }
}

extension EventBatch {
    /// The events of a transaction, which may be more than a row of the log holds.
    convenience init(copying events: CommittedEvents) {
        let view = events.view
        var shapeIndices: [UInt32: UInt32] = [:]
        var shapes: [DecodedShape] = []
        var entities: Set<UInt32> = []
        for index in 0..<view.count where shapeIndices[view.events[index].shape] == nil {
            let shape = view.shape(of: index)
            shapeIndices[view.events[index].shape] = UInt32(shapes.count)
            entities.insert(shape.entity)
            shapes.append(DecodedShape(shape))
        }
        let infos = events.commits.map(\.info)
        let header = SegmentHeader(
            first: events.first, last: events.last, firstCommit: infos.first?.number ?? 0,
            lastCommit: infos.last?.number ?? 0, firstTime: infos.first?.time ?? 0, lastTime: infos.last?.time ?? 0,
            entities: entities.sorted())
        let (valueCount, byteCount) = (events.valueCount, events.byteCount)
        // Of its own: few transactions are kept at once, and most are small.
        let pool = MemoryPool()
        let bytes = pool.take(byteCount)
        bytes.start.copyMemory(from: view.bytes, byteCount: byteCount)
        self.init(
            header: header, filled: header.count,
            slices: events.commits.map { CommitSlice(info: $0.info, eventCount: $0.events.count) }, extensions: [],
            shapes: shapes, valueCount: valueCount, bytes: bytes, pool: pool)
        values.update(from: view.values, count: valueCount)
        for index in 0..<view.count {
            self.events[index] = view.events[index]
            self.events[index].shape = shapeIndices[view.events[index].shape] ?? 0
        }
    }
}
