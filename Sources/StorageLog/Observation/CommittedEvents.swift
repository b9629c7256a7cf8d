internal import CSQLite
internal import Foundation

/// The events of one transaction that has just become durable, lent to the observers.
///
/// Nothing is copied or decoded until it is needed. Valid only during the notification; ``batch(byteLimit:where:)`` returns a
/// copy that can be kept and passed on.
package struct CommittedEvents {
    package let view: EventView
    /// The position of the first event.
    package let first: Int64
    /// The transaction's commits that have events, each with the indexes of its events.
    package let commits: [(info: CommitInfo, events: Range<Int>)]
    package let catalog: Catalog
    /// Requested values besides the events. They aren't part of a ``batch(byteLimit:where:)``.
    package let attached: AuxiliaryValues

    /// The last position of the transaction.
    package var last: Int64 { first + Int64(view.count) - 1 }

    /// The changed rows' keys of the entities that have this name, as ``KeyCoding/encodeNumerically(_:)`` encodes them.
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
            let count = Int(shape.key_count)
            keys.insert(KeyCoding.encodeNumerically(view.key(of: index), count: count, bytes: view.bytes))
        }
        return keys
    }

    /// Returns all events as a batch of their own, as if read from the log; nil if none of them is of a wanted entity, or if they
    /// take more than `byteLimit` and have to be read from the log.
    package func batch(byteLimit: Int = 1 << 20, where isWanted: (UInt32) -> Bool) -> EventBatch? {
        guard view.count > 0, !commits.isEmpty, concerns(isWanted), size <= byteLimit else { return nil }
        return EventBatch(copying: self)
    }

    /// Whether any event is of a wanted entity.
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

    /// The number of values of all events.
    var valueCount: Int {
        view.count == 0 ? 0 : Int(view.events[view.count - 1].first_value) + view.valueCount(of: view.count - 1)
    }

    /// The approximate memory of the events.
    private var size: Int {
        view.count * MemoryLayout<storage_event>.stride + valueCount * MemoryLayout<storage_value>.stride + byteCount
    }

    /// The end of the last text or blob: they lie in the order of the values.
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
    /// Copies the events of a transaction, which may be more than a segment holds.
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
        // A separate pool: few transactions are kept at the same time, and most are small.
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
