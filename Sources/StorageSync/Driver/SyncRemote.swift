/// Answers the requests of a core.
protocol SyncRemote: Sendable {
    /// - Parameter record: What the store knows of the remote.
    /// - Throws: What ``failure(_:)`` makes something of; `CancellationError` where nobody waits for the answer any more.
    func answer(_ request: SyncRequest.Kind, knowing record: SyncRecord) async throws -> SyncAnswer
    /// What an error means to a core.
    func failure(_ error: any Error) -> SyncFailure
    /// Makes pulls tell what changes from now on, or nothing but that there is nothing.
    func setListening(_ isListening: Bool) async
    /// What it has answered to pushes up to a number is saved.
    func didSavePush(through number: Int64) async
    /// The position at which all was handed out that the remote had when it was listened to; nil before.
    var snapshotEnd: Int64? { get async }
}
