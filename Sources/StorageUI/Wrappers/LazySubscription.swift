/// Creates a live view on first access: view structs are created much more often than they are shown.
@MainActor
final class LazySubscription<Subscription> {
    private let make: @MainActor () -> Subscription
    private(set) lazy var subscription = make()

    init(_ make: @escaping @MainActor () -> Subscription) { self.make = make }
}
