internal import StorageLog

/// A producer's write, as recorded in the commit that has applied it.
struct HubWriteSource: Sendable, Equatable {
    let producer: ProducerID
    let origin: Int64

    private static let producerName = "hub.producer"
    private static let originName = "hub.origin"

    init(producer: ProducerID, origin: Int64) {
        self.producer = producer
        self.origin = origin
    }

    init?(_ metadata: CommitMetadata) {
        guard let producer = metadata.attributes[Self.producerName],
            let origin = metadata.attributes[Self.originName].flatMap({ Int64($0) })
        else { return nil }
        self.init(producer: ProducerID(producer), origin: origin)
    }

    var attributes: [String: String] { [Self.producerName: producer.value, Self.originName: String(origin)] }
}
