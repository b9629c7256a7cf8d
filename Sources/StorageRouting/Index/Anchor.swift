internal import StorageCore

/// The part of a condition that it is indexed by: every row that meets the condition has it.
enum Anchor {
    case equal(reading: ReadingIndex, hash: UInt64)
    case null(reading: ReadingIndex, hash: UInt64)
    case prefix(reading: ReadingIndex, length: Int, hash: UInt64)
    case interval(reading: ReadingIndex, KeyInterval)

    var reading: ReadingIndex {
        switch self {
        case .equal(let reading, _), .null(let reading, _), .prefix(let reading, _, _), .interval(let reading, _):
            reading
        }
    }

    /// The kind of value that is hashed, in two bits.
    enum Kind: UInt64 {
        case value, null, prefix
    }

    /// Values and readings are looked up by hash: a collision only costs a needless evaluation.
    static func seed(_ reading: ReadingIndex, _ kind: Kind) -> UInt64 { UInt64(reading.index) << 2 | kind.rawValue }

    static func equal(to key: [UInt8], _ reading: ReadingIndex) -> Anchor {
        .equal(reading: reading, hash: key.withUnsafeBytes { hash(equal: $0, reading) })
    }

    static func prefix(of text: some Collection<UInt8>, _ reading: ReadingIndex) -> Anchor {
        let prefix = text.prefix(longestPrefix)
        var hash = PrefixHash(seed: seed(reading, .prefix))
        for byte in prefix { hash.combine(byte) }
        return .prefix(reading: reading, length: prefix.count, hash: hash.finished)
    }

    static func hash(equal key: UnsafeRawBufferPointer, _ reading: ReadingIndex) -> UInt64 {
        var hash = PrefixHash(seed: seed(reading, .value))
        hash.combine(key)
        return hash.finished
    }

    static func hash(null reading: ReadingIndex) -> UInt64 { PrefixHash(seed: seed(reading, .null)).finished }

    /// Longer prefixes are cut; the rest of them is left to the evaluation.
    static let longestPrefix = 32
    /// A list of values beyond this is evaluated instead.
    static let longestList = 1_000
}

/// One way in which a condition can become true: the anchor to look it up by, and what else must be true.
struct Branch {
    let anchor: Anchor
    let rest: [Condition]
}

// MARK: Choosing

extension Condition {
    /// The selectivity of the condition's best anchors, lower for more selective ones; nil if there are none. It
    /// depends on the condition alone, so that the same anchors are found again when it is removed.
    private func cost(_ index: AnchorContext) -> Int? {
        switch self {
        case .equal(let reading, _): index.isKey(reading) ? AnchorCost.key : AnchorCost.value
        case .among(let reading, let keys):
            keys.count > Anchor.longestList
                ? nil : (index.isKey(reading) ? AnchorCost.key : AnchorCost.value) * keys.count
        case .like(_, let pattern): pattern.prefix.isEmpty ? nil : AnchorCost.prefix(length: pattern.prefix.count)
        case .range(_, let lower?, let upper?): lower.key == upper.key ? AnchorCost.value : AnchorCost.closedRange
        case .null: AnchorCost.null
        case .range: AnchorCost.openRange
        case .all(let parts): parts.compactMap { $0.cost(index) }.min()
        case .any(let parts):
            parts.reduce(Int?.some(0)) { sum, part in sum.flatMap { sum in part.cost(index).map { sum + $0 } } }
        case .texts(let condition): condition.cost
        case .never: 0
        default: nil
        }
    }

    /// The anchors to look the condition up by, so that it is found whenever it is true; nil if it has to be evaluated
    /// each time.
    ///
    /// A conjunction needs the anchors of one part, a disjunction those of every part.
    func branches(_ index: AnchorContext) -> [Branch]? {
        guard cost(index) != nil else { return nil }
        let branches = branches(index, beside: [])
        return branches.count > 2 * Anchor.longestList ? nil : branches
    }

    private func branches(_ index: AnchorContext, beside rest: [Condition]) -> [Branch] {
        switch self {
        case .equal(let reading, let key): return [Branch(anchor: .equal(to: key, reading), rest: rest)]
        case .among(let reading, let keys):
            return keys.map { Branch(anchor: .equal(to: $0, reading), rest: rest) }
        case .null(let reading):
            return [Branch(anchor: .null(reading: reading, hash: Anchor.hash(null: reading)), rest: rest)]
        case .like(let reading, let pattern):
            return [Branch(anchor: .prefix(of: pattern.prefix, reading), rest: rest)]
        case .texts(let condition): return condition.anchors.map { Branch(anchor: $0, rest: rest) }
        case .range(let reading, let lower, let upper):
            let interval = KeyInterval(
                lower: lower.map { KeyHead($0.key) } ?? .lowest, upper: upper.map { KeyHead($0.key) } ?? .highest)
            return [Branch(anchor: .interval(reading: reading, interval), rest: rest)]
        case .all(let parts):
            let costs = parts.map { $0.cost(index) ?? .max }
            guard let best = costs.indices.min(by: { costs[$0] < costs[$1] }) else { return [] }
            return parts[best].branches(index, beside: rest + parts[..<best] + parts[(best + 1)...])
        case .any(let parts): return parts.flatMap { $0.branches(index, beside: rest) }
        default: return []
        }
    }
}

/// The properties of the entity that the choice of anchors depends on.
struct AnchorContext {
    let row: RowKeys
    /// The column that alone is the primary key.
    let keyIndex: Int?

    init(_ layout: RowLayout, _ row: RowKeys) {
        self.row = row
        keyIndex = layout.keyIndices.count == 1 ? layout.keyIndices[0] : nil
    }

    func isKey(_ reading: ReadingIndex) -> Bool { row[reading].columnIndex == keyIndex }
}
