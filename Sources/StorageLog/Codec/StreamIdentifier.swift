/// Which values a stream of a log row holds: those of one column, or those of one part of an entity's key.
enum StreamIdentifier {
    static func column(_ column: UInt32) -> UInt64 { UInt64(column) << 1 }
    static func key(entity: UInt32, part: UInt32) -> UInt64 { (UInt64(entity) << 12 | UInt64(part)) << 1 | 1 }
}
