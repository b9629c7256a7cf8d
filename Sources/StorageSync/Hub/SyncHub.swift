/// A log that many stores write and read: the core of a server, and of in-memory simulations.
///
/// It doesn't assume a single process. Implementations keep three promises, which `SyncHubConformance` tests:
///
/// 1. A write is applied once or rejected, permanently: its outcome is stored in the transaction that applies it.
/// 2. Positions grow in the order in which writes are applied, and the content of a page never changes later.
/// 3. A producer that has begun a session knows that no message of an earlier session will have an effect.
///
/// Errors are ``SyncFailure``: `sessionEnded` for an outdated epoch or line, or if earlier numbers are missing,
/// `numberReused` for other writes under numbers up to the last one, `refused` for a batch that can't be accepted as
/// it is, `retryable` if the hub can't answer now; and ``HubError/outdatedCondition``.
package protocol SyncHub: Sendable {
    /// Begins a session of a producer, and ends all with a lower epoch.
    func hello(from producer: ProducerID, epoch: Int64, as access: HubAccess) async throws -> SyncWelcome
    /// Applies a batch, durable when it returns. Repeating a batch returns its first answer;
    /// other writes under its numbers are refused.
    func push(_ batch: HubBatch, as access: HubAccess) async throws -> [NumberedResult]
    /// Returns the changes after a position; waits if there are none.
    func pull(_ pull: HubPull, as access: HubAccess) async throws -> SyncPage
    /// The last position.
    func head() async throws -> Int64
}
