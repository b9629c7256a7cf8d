/// Builds the list of views of a ``CombinedSubscription``; it supports `if`, `switch` and `for`.
@resultBuilder
public enum SubscriptionBuilder {
    /// A single view.
    public static func buildExpression(_ subscription: StorageSubscription) -> [StorageSubscription] { [subscription] }
    /// A view, if there is one.
    public static func buildExpression(_ subscription: StorageSubscription?) -> [StorageSubscription] {
        subscription.map { [$0] } ?? []
    }
    /// Several views.
    public static func buildExpression(_ subscriptions: [StorageSubscription]) -> [StorageSubscription] {
        subscriptions
    }
    /// The views of another combination.
    @MainActor public static func buildExpression(_ combined: CombinedSubscription) -> [StorageSubscription] {
        combined.subscriptions
    }
    /// The views of all statements.
    public static func buildBlock(_ parts: [StorageSubscription]...) -> [StorageSubscription] { parts.flatMap { $0 } }
    /// The views of an `if`.
    public static func buildOptional(_ part: [StorageSubscription]?) -> [StorageSubscription] { part ?? [] }
    /// The views of a first branch.
    public static func buildEither(first part: [StorageSubscription]) -> [StorageSubscription] { part }
    /// The views of a second branch.
    public static func buildEither(second part: [StorageSubscription]) -> [StorageSubscription] { part }
    /// The views of a loop.
    public static func buildArray(_ parts: [[StorageSubscription]]) -> [StorageSubscription] { parts.flatMap { $0 } }
    /// The views of an `if #available`.
    public static func buildLimitedAvailability(_ part: [StorageSubscription]) -> [StorageSubscription] { part }
}
