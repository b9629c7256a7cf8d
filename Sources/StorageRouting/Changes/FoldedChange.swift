/// The net change of one row over a run of events: it was inserted, updated or deleted.
///
/// The values are in the ``ChangeFold``.
package struct FoldedChange: Sendable {
    package let entity: UInt32
    /// The row's number in its table, as of its last event.
    package internal(set) var rowid: Int64
    /// Position of the row's last event.
    package internal(set) var position: Int64
    /// Whether the row was there before, and whether it is there after.
    package internal(set) var existed: Bool
    package internal(set) var exists: Bool
    /// Columns with another value than before. All of them where the row came or went.
    package internal(set) var changed = ColumnMask.none
    /// Whether an event names a column that the layout doesn't know, so that nothing can be said of the change.
    package internal(set) var isForeign = false
    /// Whether the row was inserted or deleted in between, so that each existing image is complete.
    var isWhole: Bool
    var eventCount = 1
    /// Where its layout is, and where its images begin: the one before, right behind it the one after.
    let layout: Int32
    let first: Int

    /// Whether the row was there before and still is.
    @inline(__always)
    package var isUpdate: Bool { existed && exists }
}
