/// Answers the requests of a core.
protocol SyncRemote: Sendable {
    /// - Parameter record: What the store knows about the remote.
    /// - Throws: Errors that ``failure(_:)`` converts; `CancellationError` if the answer is no longer awaited.
    func answer(_ request: SyncRequest.Kind, knowing record: SyncRecord) async throws -> SyncAnswer
    /// What an error means to a core.
    func failure(_ error: any Error) -> SyncFailure
    /// Determines whether pulls return changes, or always nothing.
    func setListening(_ isListening: Bool) async
    /// Called when the credentials have changed, before the first request with the new ones: answers to requests with the old ones are ignored.
    func credentialsChanged() async
    /// Called when answers to pushes up to a number are saved.
    func didSavePush(through number: Int64) async
    /// The position at which the initial snapshot is complete; nil until it was returned.
    var snapshotEnd: Int64? { get async }
}

extension SyncRemote {
    /// If every refusal answers a request, its number shows that the request was an earlier one.
    func credentialsChanged() {}
}
