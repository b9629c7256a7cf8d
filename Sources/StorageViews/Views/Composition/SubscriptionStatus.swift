public import Observation
public import StorageCore

/// The status of a live view, and a way to reload it: what a screen shows around the rows themselves.
///
/// ```swift
/// func retry(_ view: some SubscriptionStatus) async {
///     if let error = view.error, !view.isLoading {
///         print(error.message)
///         await view.refresh()
///     }
/// }
/// await retry(users)
/// ```
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
