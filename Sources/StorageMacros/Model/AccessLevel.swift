internal import SwiftSyntax

/// The access level of the generated declarations: that of the entity itself.
enum AccessLevel: String, Comparable {
    case `fileprivate`
    case `internal`
    case package
    case `public`

    private static let ascending: [AccessLevel] = [.fileprivate, .internal, .package, .public]

    static func < (one: AccessLevel, other: AccessLevel) -> Bool {
        ascending.prefix { $0 != other }.contains(one)
    }

    /// The modifier in front of a declaration.
    var prefix: String { self == .internal ? "" : rawValue + " " }

    /// The level that a list of modifiers names.
    ///
    /// `private` becomes `fileprivate`: the record is declared beside the entity, so inside a type they couldn't access each
    /// other, and at the top of a file the two words mean the same.
    init?(_ modifiers: DeclModifierListSyntax) {
        let levels = modifiers.lazy.compactMap { AccessLevel($0) }
        guard let first = levels.first else { return nil }
        self = first
    }

    /// The level of a modifier; nil for one that applies only to setting, such as `private(set)`.
    init?(_ modifier: DeclModifierSyntax) {
        guard modifier.detail == nil else { return nil }
        switch modifier.name.tokenKind {
        case .keyword(.public), .keyword(.open): self = .public
        case .keyword(.package): self = .package
        case .keyword(.internal): self = .internal
        case .keyword(.fileprivate), .keyword(.private): self = .fileprivate
        default: return nil
        }
    }
}
