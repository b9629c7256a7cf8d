/// What a changed row is to a subscription.
public enum SubscriptionEffect: UInt8, Sendable, Hashable {
    /// The row begins to match.
    case enter
    /// It doesn't any more.
    case leave
    /// It still does, and something that the subscription looks at is another.
    case stay
    /// It may be any of these, or nothing: only the database knows.
    case uncertain
}
