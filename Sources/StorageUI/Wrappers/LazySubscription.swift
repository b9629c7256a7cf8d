/// Makes a live view when it is first asked for: structs of views are made much more often than they are shown.
@MainActor
final class LazySubscription<Subscription> {
    private let make: @MainActor () -> Subscription
    private(set) lazy var subscription = make()

    init(_ make: @escaping @MainActor () -> Subscription) { self.make = make }
}
