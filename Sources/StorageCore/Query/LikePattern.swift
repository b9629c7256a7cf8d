/// A pattern of SQLite's LIKE, taken apart once.
struct LikePattern: Sendable {
    private enum Part: Sendable, Equatable {
        case scalar(UInt32)
        case one, any
        /// What an escape at the very end leaves: nothing fits.
        case never
    }

    private var parts: [Part] = []

    init(_ pattern: String, escape: Unicode.Scalar?) {
        var isEscaped = false
        for scalar in pattern.unicodeScalars {
            if isEscaped {
                parts.append(.scalar(Self.folded(scalar.value)))
                isEscaped = false
            } else if scalar == escape {
                isEscaped = true
            } else if scalar == "%" {
                if parts.last != .any { parts.append(.any) }
            } else if scalar == "_" {
                parts.append(.one)
            } else {
                parts.append(.scalar(Self.folded(scalar.value)))
            }
        }
        if isEscaped { parts.append(.never) }
    }

    /// Whether a text fits as a whole.
    func matches(_ text: String) -> Bool {
        let scalars = Array(text.unicodeScalars)
        var index = 0
        var part = 0
        // Where to go on when the text behind the last `%` doesn't fit from here.
        var resume: (part: Int, place: Int)?
        while index < scalars.count {
            if part < parts.count {
                switch parts[part] {
                case .any:
                    part += 1
                    resume = (part, index)
                    continue
                case .one:
                    part += 1
                    index += 1
                    continue
                case .scalar(let wanted) where wanted == Self.folded(scalars[index].value):
                    part += 1
                    index += 1
                    continue
                default: break
                }
            }
            guard let again = resume else { return false }
            resume = (again.part, again.place + 1)
            part = again.part
            index = again.place + 1
        }
        while part < parts.count, parts[part] == .any { part += 1 }
        return part == parts.count
    }

    private static func folded(_ scalar: UInt32) -> UInt32 { (0x41...0x5A).contains(scalar) ? scalar + 32 : scalar }
}
