/// The answer to a hello: from now on the requested session is the only one of its producer.
package struct SyncWelcome: Sendable, Equatable {
    /// The remote's history, oldest line first.
    package let lines: [RemoteLine]
    /// The remote's last position.
    package let head: Int64
    /// The last number of this producer that has an outcome. All earlier numbers have one; no later number that was
    /// sent in an earlier session ever will.
    package let lastNumber: Int64
    /// The outcomes of the last batch.
    package let results: [NumberedResult]
    /// The session in which the last batch was sent; nil if the remote doesn't know.
    package let lastSession: SyncSession?
    /// A fingerprint of what the producer may see; nil if the remote doesn't provide one.
    package let access: String?

    package init(
        lines: [RemoteLine], head: Int64, lastNumber: Int64, results: [NumberedResult],
        lastSession: SyncSession? = nil, access: String? = nil
    ) {
        self.lines = lines
        self.head = head
        self.lastNumber = lastNumber
        self.results = results
        self.lastSession = lastSession
        self.access = access
    }
}
