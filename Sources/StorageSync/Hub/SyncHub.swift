/// One log that many stores write to and read: what stands behind a server, and what a simulation runs in memory.
///
/// Nothing in it assumes one process. Whoever implements it keeps three promises, which `SyncHubConformance` tests:
///
/// 1. A write is applied once, or is rejected, for ever: its outcome is stored in the transaction that applies it.
/// 2. Positions grow with the order in which writes are applied, and what a page says is never changed later.
/// 3. A producer that has begun a session knows that no message of an earlier session will have an effect.
///
/// Errors are ``SyncFailure``: `sessionEnded` for an epoch, a line or a number that isn't the hub's any more, `refused` for a batch
/// that can't be taken as it is, `retryable` where it can't answer now; and ``HubError/outdatedCondition``.
package protocol SyncHub: Sendable {
    /// Begins a session of a producer, and ends all with a lower epoch.
    func hello(from producer: ProducerID, epoch: Int64, as access: HubAccess) async throws -> SyncWelcome
    /// Applies a batch, durable when it returns. A batch that comes twice has the answer of the first time.
    func push(_ batch: HubBatch, as access: HubAccess) async throws -> [NumberedResult]
    /// The changes behind a position; waits where there are none.
    func pull(_ pull: HubPull, as access: HubAccess) async throws -> SyncPage
    /// The last position.
    func head() async throws -> Int64
}
