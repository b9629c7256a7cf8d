internal import StorageCore

/// Identifies the values that a stream of a segment holds: those of one column, or those of one part of an entity's key.
enum StreamIdentifier {
    static func column(_ column: UInt32) -> UInt64 { UInt64(column) << 1 }
    static func key(entity: UInt32, part: UInt32) -> UInt64 { (UInt64(entity) << 12 | UInt64(part)) << 1 | 1 }

    /// Whether a segment may name an id: that of one of the store's own entities and columns, which no catalog holds, or one in
    /// the range that a catalog assigns.
    static func isEntity(_ id: UInt64) -> Bool { isKnown(id, entities) }
    static func isColumn(_ id: UInt64) -> Bool { isKnown(id, ~entities & ((1 << 31) - 4)) }

    /// 1, 14, 18 and 21 as bits. The other ids up to 30 are their columns.
    private static let entities: UInt64 = 1 << 1 | 1 << 14 | 1 << 18 | 1 << 21

    @inline(__always)
    private static func isKnown(_ id: UInt64, _ own: UInt64) -> Bool {
        id < 32 ? own >> id & 1 == 1 : id <= UInt64(Limits.catalogIds.upperBound)
    }
}
