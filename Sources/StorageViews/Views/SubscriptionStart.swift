/// When a subscription has its first value.
public enum SubscriptionStart: Sendable {
    /// Before its initialiser returns, which waits for the database: for the lists of a screen, which an index answers.
    case immediate
    /// Soon after. Until then ``StorageSubscription/isLoading`` is true.
    case background
}
