package import StorageCore

/// The collections that a client may read.
package struct HubCollectionList: HubMessage, Sendable, Equatable {
    package struct Collection: Sendable, Equatable {
        package let name: String
        package let reads: Bool
        package let writes: Bool

        package init(name: String, reads: Bool, writes: Bool) {
            self.name = name
            self.reads = reads
            self.writes = writes
        }
    }

    package let collections: [Collection]

    package init(_ collections: [Collection]) { self.collections = collections }

    package init(from json: inout JSONReader) throws {
        var collections: [Collection]?
        try json.object { key, json in
            guard key == "collections" else { return try json.ignore() }
            collections = []
            try json.array { collections?.append(try Collection(from: &$0)) }
        }
        self.collections = try json.required(collections, "collections")
    }

    package func write(to json: inout JSONWriter) {
        json.object { json in
            json.key("collections")
            json.array(collections) { $0.write(to: &$1) }
        }
    }
}

extension HubCollectionList.Collection: HubMessage {
    package init(from json: inout JSONReader) throws {
        var name: String?
        var (reads, writes): (Bool?, Bool?)
        try json.object { key, json in
            switch key {
            case "name": name = try json.string()
            case "read": reads = try json.bool()
            case "write": writes = try json.bool()
            default: try json.ignore()
            }
        }
        self.init(
            name: try json.required(name, "name"), reads: try json.required(reads, "read"),
            writes: try json.required(writes, "write"))
    }

    package func write(to json: inout JSONWriter) {
        json.object { json in
            json.text(name, for: "name")
            json.bool(reads, for: "read")
            json.bool(writes, for: "write")
        }
    }
}
