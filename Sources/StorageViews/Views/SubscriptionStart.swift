/// When a subscription has its first value.
public enum SubscriptionStart: Sendable {
    /// Before its initialiser returns, which waits for the database: for the lists of a screen, which an index answers.
    case immediate
    /// Soon after; it is read on a separate connection, so that a slow query delays no other view. Until then
    /// ``StorageSubscription/isLoading`` is true.
    case background
}
