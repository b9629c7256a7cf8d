/// Lists the views of a ``CombinedSubscription``, with `if`, `switch` and `for` where it takes them.
@resultBuilder
public enum SubscriptionBuilder {
    public static func buildExpression(_ subscription: StorageSubscription) -> [StorageSubscription] { [subscription] }
    public static func buildExpression(_ subscription: StorageSubscription?) -> [StorageSubscription] {
        subscription.map { [$0] } ?? []
    }
    public static func buildExpression(_ subscriptions: [StorageSubscription]) -> [StorageSubscription] {
        subscriptions
    }
    /// The views of another combination.
    @MainActor public static func buildExpression(_ combined: CombinedSubscription) -> [StorageSubscription] {
        combined.subscriptions
    }
    public static func buildBlock(_ parts: [StorageSubscription]...) -> [StorageSubscription] { parts.flatMap { $0 } }
    public static func buildOptional(_ part: [StorageSubscription]?) -> [StorageSubscription] { part ?? [] }
    public static func buildEither(first part: [StorageSubscription]) -> [StorageSubscription] { part }
    public static func buildEither(second part: [StorageSubscription]) -> [StorageSubscription] { part }
    public static func buildArray(_ parts: [[StorageSubscription]]) -> [StorageSubscription] { parts.flatMap { $0 } }
    public static func buildLimitedAvailability(_ part: [StorageSubscription]) -> [StorageSubscription] { part }
}
