public import StorageViews

extension Storage {
    /// Reports changes of single rows as they are committed.
    ///
    /// ```swift
    /// for await event in try await storage.changeNotifier.events(for: User.self, filter: .rowIds([id])) {
    ///     print(event)
    /// }
    /// ```
    public var changeNotifier: SmartChangeNotifier { SmartChangeNotifier(subscriptions) }
}

extension StorageRepository {
    /// Reports changes of single rows as they are committed.
    public var changeNotifier: SmartChangeNotifier { storage.changeNotifier }
}
