/// The answer to a hello: from now on the session that asked is the only one of its producer.
package struct SyncWelcome: Sendable, Equatable {
    package let line: [UInt8]
    /// Up to where what was pulled is still part of the remote's history.
    package let shared: Int64
    /// The last number of this producer that has an outcome; all before it have one, and none behind it will ever have one that
    /// was sent in an earlier session.
    package let lastNumber: Int64
    /// Those of the last batch.
    package let results: [NumberedResult]

    package init(line: [UInt8], shared: Int64, lastNumber: Int64, results: [NumberedResult]) {
        self.line = line
        self.shared = shared
        self.lastNumber = lastNumber
        self.results = results
    }
}
