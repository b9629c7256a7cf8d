/// How a changed row affects a subscription.
public enum SubscriptionEffect: UInt8, Sendable, Hashable {
    /// The row begins to match.
    case enter
    /// The row stops matching.
    case leave
    /// The row still matches, and a column that the subscription depends on has changed.
    case stay
    /// It may be any of these or nothing; only the database knows which.
    case uncertain
}
