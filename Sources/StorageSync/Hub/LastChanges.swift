/// The last change of a document, and the last one by another producer.
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

    /// Adds a change that precedes all known ones.
    mutating func addEarlier(_ position: Int64, by producer: ProducerID?) {
        if positionOfOthers == 0, producer != self.producer { positionOfOthers = position }
    }

    /// The last change by anybody but a producer; 0 if there is none.
    func position(byOthersThan producer: ProducerID?) -> Int64 {
        producer == self.producer ? positionOfOthers : position
    }
}
