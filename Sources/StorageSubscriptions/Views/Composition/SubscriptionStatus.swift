public import Observation
public import StorageCore

/// How a live view is doing, and a button to read it anew: what a screen shows around the rows themselves.
@MainActor
public protocol SubscriptionStatus: AnyObject, Observable, Sendable {
    /// Whether a value is still on its way.
    var isLoading: Bool { get }
    /// Why the value is from before; nil while all is well.
    var error: StorageError? { get }
    /// Reads everything anew.
    func refresh() async
}

extension StorageSubscription: SubscriptionStatus {}
