package import CSQLite

/// Values of requested columns that updates of a transaction left unchanged; lent like the events.
///
/// There may be fewer than were requested, and none for a transaction that began before the request.
package struct AuxiliaryValues {
    /// In the order of the events.
    package let values: UnsafeBufferPointer<storage_attachment>
    package let bytes: UnsafePointer<UInt8>?

    package static var none: AuxiliaryValues {
        AuxiliaryValues(values: UnsafeBufferPointer(start: nil, count: 0), bytes: nil)
    }
}
