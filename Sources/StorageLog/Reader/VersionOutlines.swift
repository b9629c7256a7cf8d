package import StorageCore

/// The events of one row, newest first, without their values. Each has the position of the previous one, so reading the first ones
/// costs nothing for the rest.
///
/// Not `Sendable`: it belongs to its reader's thread.
package struct VersionOutlines {
    private let log: LogReader
    /// The position of the next event; 0 after the last one.
    private var position: Int64

    package init(of key: [StorageValue], in entity: CatalogEntity, _ log: LogReader) throws {
        self.log = log
        position = try log.lastPosition(of: key, in: entity) ?? 0
    }

    /// The segment and the index in it of the next event; nil after the row's first one.
    package mutating func next() throws -> (outline: SegmentOutline, index: Int)? {
        guard position > 0 else { return nil }
        guard let outline = try log.outline(containing: position) else {
            throw StorageError.corruptLog("position @\(position) is missing")
        }
        let index = Int(position - outline.header.first)
        // Less than its own position: the decoder has checked that.
        position = outline.previous(ofEvent: index)
        return (outline, index)
    }
}
