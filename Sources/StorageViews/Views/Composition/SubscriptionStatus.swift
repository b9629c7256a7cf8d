public import Observation
public import StorageCore

/// The status of a live view, and a way to reload it: what a screen shows around the rows themselves.
@MainActor
public protocol SubscriptionStatus: AnyObject, Observable, Sendable {
    /// Whether a value is being loaded.
    var isLoading: Bool { get }
    /// Why the value is out of date; nil if it isn't.
    var error: StorageError? { get }
    /// Reloads everything.
    func refresh() async
}

extension StorageSubscription: SubscriptionStatus {}
