internal import CSQLite
internal import Foundation

extension EventView {
    /// Whether two runs hold the same events, byte for byte.
    func isIdentical(to other: EventView) -> Bool {
        guard count == other.count else { return false }
        for index in 0..<count {
            let (shape, otherShape) = (shape(of: index), other.shape(of: index))
            guard events[index].previous == other.events[index].previous, shape.entity == otherShape.entity,
                shape.operation == otherShape.operation, shape.key_count == otherShape.key_count,
                shape.column_count == otherShape.column_count,
                (0..<Int(shape.column_count)).allSatisfy({ shape.columns[$0] == otherShape.columns[$0] })
            else { return false }
            let (values, otherValues) = (key(of: index), other.key(of: index))
            for offset in 0..<valueCount(of: index) {
                guard holds(values[offset], sameAs: otherValues[offset], in: other) else { return false }
            }
        }
        return true
    }

    private func holds(_ value: storage_value, sameAs other: storage_value, in view: EventView) -> Bool {
        guard value.type == other.type, value.size == other.size else { return false }
        guard value.hasBytes else {
            return value.bits == other.bits
        }
        return memcmp(bytes + Int(value.bits), view.bytes + Int(other.bits), Int(value.size)) == 0
    }
}
