/// When a document was changed last, and when by another producer than that.
struct LastChanges {
    private let position: Int64
    private let producer: ProducerID?
    private let positionOfOthers: Int64

    /// - Parameter producer: Nil for the hub's own program.
    init(position: Int64, producer: ProducerID?, before: LastChanges?) {
        self.position = position
        self.producer = producer
        positionOfOthers = before?.position(byOthersThan: producer) ?? 0
    }

    /// Its last change by anybody but a producer; 0 where there is none.
    func position(byOthersThan producer: ProducerID?) -> Int64 {
        producer == self.producer ? positionOfOthers : position
    }
}
