package import StorageCore

/// The whole result of a live query.
package struct HubSnapshot: HubMessage, Sendable, Equatable {
    /// The position that the result reflects.
    package let position: Int64
    package let documents: [HubLiveDocument]

    package init(position: Int64, documents: [HubLiveDocument]) {
        (self.position, self.documents) = (position, documents)
    }

    package init(from json: inout JSONReader) throws {
        var position: Int64?
        var documents: [HubLiveDocument]?
        try json.object { key, json in
            switch key {
            case "position": position = try json.integer()
            case "documents":
                documents = []
                try json.array { documents?.append(try HubLiveDocument(from: &$0)) }
            default: try json.ignore()
            }
        }
        self.position = try json.required(position, "position")
        self.documents = try json.required(documents, "documents")
    }

    package func write(to json: inout JSONWriter) {
        json.object { json in
            json.integer(position, for: "position")
            json.key("documents")
            json.array(documents) { $0.write(to: &$1) }
        }
    }
}
