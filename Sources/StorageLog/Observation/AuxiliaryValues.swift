package import CSQLite

/// Values that updates of a transaction left alone, captured because their columns were requested; lent like the events.
///
/// There may be fewer than were asked for, and none of a transaction that had begun before.
package struct AuxiliaryValues {
    /// In the order of the events.
    package let values: UnsafeBufferPointer<storage_attachment>
    package let bytes: UnsafePointer<UInt8>?

    package static var none: AuxiliaryValues {
        AuxiliaryValues(values: UnsafeBufferPointer(start: nil, count: 0), bytes: nil)
    }
}
