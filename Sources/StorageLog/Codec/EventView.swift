package import CSQLite
package import StorageCore
internal import StorageRecords

/// Events in memory, as capture leaves them and as the decoder makes them: one representation for both, so that
/// encoding, folding and reading are written once.
///
/// The pointers belong to the capture buffer or to an ``EventBatch`` and are valid while that is.
package struct EventView {
    package let events: UnsafePointer<storage_event>
    package let count: Int
    package let values: UnsafePointer<storage_value>
    package let bytes: UnsafePointer<UInt8>
    package let shapes: UnsafePointer<storage_shape>
    package let shapeCount: Int

    @inline(__always)
    package func shape(of event: Int) -> storage_shape { shapes[Int(events[event].shape)] }

    @inline(__always)
    package func key(of event: Int) -> UnsafePointer<storage_value> { values + Int(events[event].first_value) }

    /// The values after the key: one per column, or for an update the old ones, then the new ones.
    @inline(__always)
    package func columns(of event: Int) -> UnsafePointer<storage_value> {
        key(of: event) + Int(shape(of: event).key_count)
    }

    /// The number of an event's values: its key, and one or two images of its columns.
    @inline(__always)
    func valueCount(of event: Int) -> Int {
        let shape = shape(of: event)
        let images = shape.isUpdate ? 2 : 1
        return Int(shape.key_count) + images * Int(shape.column_count)
    }

    /// The bytes of the texts and blobs of some events: keys, old values and new values.
    func textBytes(of events: Range<Int>) -> Int {
        var count = 0
        for event in events {
            let values = key(of: event)
            for index in 0..<valueCount(of: event) { count += Int(values[index].size) }
        }
        return count
    }

    /// A value copied from the run. Invalid UTF-8 in a text is repaired.
    package func value(_ raw: storage_value) -> StorageValue { raw.value(from: bytes) }

    @inline(__always)
    package func same(_ a: storage_value, _ b: storage_value) -> Bool {
        a.isSame(as: b, from: bytes, otherFrom: bytes)
    }
}
