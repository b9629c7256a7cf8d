/// The answer to a hello: from now on the session that asked is the only one of its producer.
package struct SyncWelcome: Sendable, Equatable {
    /// The remote's history, the oldest line first.
    package let lines: [RemoteLine]
    /// Its last position.
    package let head: Int64
    /// The last number of this producer that has an outcome; all before it have one, and none behind it will ever have one that
    /// was sent in an earlier session.
    package let lastNumber: Int64
    /// Those of the last batch.
    package let results: [NumberedResult]
    /// Changes with what the producer may see; nil where the remote doesn't say.
    package let access: String?

    package init(
        lines: [RemoteLine], head: Int64, lastNumber: Int64, results: [NumberedResult], access: String? = nil
    ) {
        self.lines = lines
        self.head = head
        self.lastNumber = lastNumber
        self.results = results
        self.access = access
    }
}
