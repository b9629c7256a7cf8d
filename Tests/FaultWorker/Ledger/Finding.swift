/// Something that isn't as it was promised.
struct Finding: CustomStringConvertible {
    enum Kind: String {
        /// A store that can't be opened, or can't be used further.
        case unusable
        /// A store that can't be opened and was never acknowledged.
        case stillborn
        /// `verify` finds something.
        case unsound
        /// What had been acknowledged isn't there.
        case lost
        /// Something is there by half, or was never asked for.
        case half
        /// A sound store is said to be damaged.
        case misjudged
        /// An error that isn't one of ours.
        case untyped
    }

    let kind: Kind
    let text: String

    var description: String { "\(kind.rawValue): \(text)" }
}
