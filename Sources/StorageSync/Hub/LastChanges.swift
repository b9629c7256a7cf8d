/// When a document was changed last, and when by another producer than that.
struct LastChanges {
    private let position: Int64
    private let producer: ProducerID?
    private var positionOfOthers: Int64

    /// - Parameter producer: Nil for the hub's own program.
    init(position: Int64, producer: ProducerID?, before: LastChanges?) {
        self.position = position
        self.producer = producer
        positionOfOthers = before?.position(byOthersThan: producer) ?? 0
    }

    /// Takes note of a change before all that are known.
    mutating func addEarlier(_ position: Int64, by producer: ProducerID?) {
        if positionOfOthers == 0, producer != self.producer { positionOfOthers = position }
    }

    /// Its last change by anybody but a producer; 0 where there is none.
    func position(byOthersThan producer: ProducerID?) -> Int64 {
        producer == self.producer ? positionOfOthers : position
    }
}
