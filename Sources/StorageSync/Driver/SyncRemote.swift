/// Answers the requests of a core.
protocol SyncRemote: Sendable {
    /// - Parameter record: What the store knows about the remote.
    /// - Throws: Errors that ``failure(_:)`` converts; `CancellationError` if nobody waits for the answer any more.
    func answer(_ request: SyncRequest.Kind, knowing record: SyncRecord) async throws -> SyncAnswer
    /// What an error means to a core.
    func failure(_ error: any Error) -> SyncFailure
    /// Determines whether pulls return changes, or always nothing.
    func setListening(_ isListening: Bool) async
    /// Called when there are other credentials, before anything is requested with them: what is still on its way with the
    /// old ones counts no more.
    func credentialsChanged() async
    /// Called when answers to pushes up to a number are saved.
    func didSavePush(through number: Int64) async
    /// The position at which the initial snapshot is complete; nil until it was returned.
    var snapshotEnd: Int64? { get async }
}

extension SyncRemote {
    /// Where every refusal is the answer to a request, its number says that it is an earlier one.
    func credentialsChanged() {}
}
