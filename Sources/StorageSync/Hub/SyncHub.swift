/// One log that many stores write to and read: what stands behind a server, and what a simulation runs in memory.
///
/// Nothing in it assumes one process. Whoever implements it keeps three promises, which `SyncHubConformance` tests:
///
/// 1. A write is applied once, or is rejected, for ever: its outcome is stored in the transaction that applies it.
/// 2. Positions grow with the order in which writes are applied, and what a page tells is never changed behind it.
/// 3. A producer that has begun a session knows that no message of an earlier session will have an effect.
///
/// Errors are ``SyncFailure``: `sessionEnded` for an epoch, a line or a number that isn't the hub's any more, `refused` for a batch
/// that can't be taken as it is, `retryable` where it can't answer now.
package protocol SyncHub: Sendable {
    /// Begins a session of a producer, and ends all with a lower epoch.
    func hello(from producer: ProducerID, epoch: Int64, as access: HubAccess) async throws -> SyncWelcome
    /// Applies a batch, durable when it returns. A batch that comes twice has the answer of the first time.
    func push(_ batch: HubBatch, as access: HubAccess) async throws -> [NumberedResult]
    /// The changes behind a position; waits where there are none.
    func pull(_ pull: HubPull, as access: HubAccess) async throws -> SyncPage
}

/// Writes under consecutive numbers.
package struct HubBatch: Sendable, Equatable {
    package let producer: ProducerID
    package let epoch: Int64
    /// The id of the line that the session was begun on.
    package let line: [UInt8]
    package let firstNumber: Int64
    package let writes: [HubWrite]

    package init(producer: ProducerID, epoch: Int64, line: [UInt8], firstNumber: Int64, writes: [HubWrite]) {
        self.producer = producer
        self.epoch = epoch
        self.line = line
        self.firstNumber = firstNumber
        self.writes = writes
    }
}

/// What is asked of a hub's history.
package struct HubPull: Sendable, Equatable {
    /// Whose writes are marked as such; nil where nobody's are.
    package var producer: ProducerID?
    /// The id of the line that the position belongs to; nil for the hub's present one, with position 0.
    package var line: [UInt8]?
    package var position: Int64
    /// Entities by name.
    package var entities: Set<String>
    /// One document of them only.
    package var document: String?
    /// The most changes of a page.
    package var limit = 1_000
    /// How long the hub waits for a change; zero for not at all.
    package var wait: Duration = .zero

    package init(behind position: Int64, of entities: Set<String>) {
        self.position = position
        self.entities = entities
    }
}
