/// The order of the groups of a ``GroupedQuerySubscription``.
///
/// ```swift
/// let rank = ["open": 0, "paid": 1, "sent": 2]
/// let orders = storage.query(Order.self).liveGroups(
///     by: \.status,
///     configuration: .init(sortGroupsBy: .custom { rank[$0, default: 3] < rank[$1, default: 3] }))
/// ```
public struct GroupOrder<Key: Hashable & Sendable>: Sendable {
    typealias Comparison = @Sendable (Key, Key) -> Bool

    enum Kind: Sendable {
        /// By the keys alone.
        case keys(Comparison)
        /// By the number of rows; by the keys if equal.
        case counts(ascending: Bool, Comparison?)
    }

    let kind: Kind

    /// Orders groups by a closure that returns whether its first key comes before its second one.
    public static func custom(_ isBefore: @escaping @Sendable (Key, Key) -> Bool) -> GroupOrder {
        GroupOrder(kind: .keys(isBefore))
    }

    /// Orders groups by their numbers of rows, including rows that aren't shown. Groups with equal counts keep the
    /// order in which they appeared.
    ///
    /// Each change of a count costs a pass over all groups.
    public static func count(ascending: Bool) -> GroupOrder { GroupOrder(kind: .counts(ascending: ascending, nil)) }
}

extension GroupOrder where Key: Comparable {
    /// Orders groups by their keys, as Swift compares them.
    public static func key(ascending: Bool = true) -> GroupOrder { custom { ascending ? $0 < $1 : $1 < $0 } }

    /// Orders groups by their numbers of rows, including rows that aren't shown, and those with equal counts by their
    /// keys.
    ///
    /// Each change of a count costs a pass over all groups.
    public static func count(ascending: Bool) -> GroupOrder {
        GroupOrder(kind: .counts(ascending: ascending) { $0 < $1 })
    }
}

extension GroupOrder {
    /// Orders groups by their keys, as Swift compares them; nil comes first in ascending order.
    public static func key<Wrapped: Comparable>(ascending: Bool = true) -> GroupOrder where Key == Wrapped? {
        custom { left, right in
            let (first, second) = ascending ? (left, right) : (right, left)
            guard let second else { return false }
            return first.map { $0 < second } ?? true
        }
    }
}

extension GroupOrder where Key: RawRepresentable, Key.RawValue: Comparable {
    /// Orders groups by their keys' raw values, as Swift compares them.
    ///
    /// ```swift
    /// let order = GroupOrder<Priority>.rawValue(ascending: false)
    /// ```
    public static func rawValue(ascending: Bool = true) -> GroupOrder {
        custom { ascending ? $0.rawValue < $1.rawValue : $1.rawValue < $0.rawValue }
    }
}
