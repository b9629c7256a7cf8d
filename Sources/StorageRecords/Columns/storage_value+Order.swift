package import CSQLite
internal import Foundation

extension storage_value {
    /// SQLite's order of values, with texts by their bytes: negative if this value sorts before another, zero if they are equal,
    /// positive if it sorts after. The `bits` of texts and blobs are addresses.
    package func order(to other: storage_value) -> Int {
        guard rank == other.rank else { return rank - other.rank }
        switch rank {
        case Rank.null: return 0
        case Rank.number:
            if type == other.type, type == UInt32(SQLITE_INTEGER) {
                let (one, two) = (Int64(bitPattern: bits), Int64(bitPattern: other.bits))
                return one == two ? 0 : one < two ? -1 : 1
            }
            return number == other.number ? 0 : number < other.number ? -1 : 1
        default:
            let (left, right) = (addressed, other.addressed)
            let shorter = min(left.count, right.count)
            // A non-empty run of bytes has an address.
            let order = shorter == 0 ? 0 : Int(memcmp(left.baseAddress!, right.baseAddress!, shorter))
            return order != 0 ? order : left.count - right.count
        }
    }

    private enum Rank {
        static let null = 0
        static let number = 1
        static let text = 2
        static let blob = 3
    }

    private var rank: Int {
        switch Int32(type) {
        case SQLITE_NULL: Rank.null
        case SQLITE_INTEGER, SQLITE_FLOAT: Rank.number
        case SQLITE_TEXT: Rank.text
        default: Rank.blob
        }
    }

    private var number: Double {
        type == UInt32(SQLITE_INTEGER) ? Double(Int64(bitPattern: bits)) : Double(bitPattern: bits)
    }
}
