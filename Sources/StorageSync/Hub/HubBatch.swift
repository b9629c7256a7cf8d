internal import StorageCore

/// Writes under consecutive numbers.
package struct HubBatch: Sendable, Equatable {
    package let producer: ProducerID
    package let epoch: Int64
    /// The id of the line on which the session was begun.
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

    /// Identifies the writes. They are a client's own: if it chose some that collide, it would deceive itself only.
    var fingerprint: String {
        var json = JSONWriter()
        json.array(writes) { $0.write(to: &$1) }
        return json.bytes.fnv1a
    }
}

extension HubBatch {
    /// Why no hub can accept the batch, whatever it has stored; nil otherwise.
    var refusal: SyncFailure? {
        if writes.isEmpty { return .emptyBatch }
        return firstNumber < 1 ? .numberBelowOne : nil
    }
}

extension SyncFailure {
    /// An empty batch has no outcomes, and would replace those of the last one.
    static let emptyBatch = SyncFailure.refused(.invalid("A batch must contain at least one write."))

    static let numberBelowOne = SyncFailure.refused(.invalid("The numbers of writes begin at 1."))
}
