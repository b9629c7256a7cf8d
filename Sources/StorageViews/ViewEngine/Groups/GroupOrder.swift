/// The order of the groups of a ``GroupedQuerySubscription``.
public struct GroupOrder<Key: Hashable & Sendable>: Sendable {
    typealias Comparison = @Sendable (Key, Key) -> Bool

    enum Kind: Sendable {
        /// By the keys alone.
        case keys(Comparison)
        /// By the number of rows; by the keys if equal.
        case counts(ascending: Bool, Comparison?)
    }

    let kind: Kind

    /// By a comparison of your own, which returns whether the first key comes before the second one.
    public static func custom(_ isBefore: @escaping @Sendable (Key, Key) -> Bool) -> GroupOrder {
        GroupOrder(kind: .keys(isBefore))
    }

    /// By the number of rows in the groups, also those that aren't shown. Groups with equal counts keep the order in
    /// which they appeared.
    ///
    /// A change of a count costs a pass over all groups.
    public static func count(ascending: Bool) -> GroupOrder { GroupOrder(kind: .counts(ascending: ascending, nil)) }
}

extension GroupOrder where Key: Comparable {
    /// By the keys, as Swift compares them.
    public static func key(ascending: Bool = true) -> GroupOrder { custom { ascending ? $0 < $1 : $1 < $0 } }

    /// By the number of rows in the groups, also those that aren't shown; by the keys if equal.
    ///
    /// A change of a count costs a pass over all groups.
    public static func count(ascending: Bool) -> GroupOrder {
        GroupOrder(kind: .counts(ascending: ascending) { $0 < $1 })
    }
}

extension GroupOrder {
    /// By the keys, as Swift compares them; nil comes first in ascending order.
    public static func key<Wrapped: Comparable>(ascending: Bool = true) -> GroupOrder where Key == Wrapped? {
        custom { left, right in
            let (first, second) = ascending ? (left, right) : (right, left)
            guard let second else { return false }
            return first.map { $0 < second } ?? true
        }
    }
}

extension GroupOrder where Key: RawRepresentable, Key.RawValue: Comparable {
    /// By the keys' raw values, as Swift compares them.
    public static func rawValue(ascending: Bool = true) -> GroupOrder {
        custom { ascending ? $0.rawValue < $1.rawValue : $1.rawValue < $0.rawValue }
    }
}
