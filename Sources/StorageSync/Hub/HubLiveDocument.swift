internal import StorageCore

/// A document in the result of a live query.
package struct HubLiveDocument: Sendable, Equatable {
    package let id: String
    /// The document as JSON, as it is sent: its id and its fields.
    let json: [UInt8]

    init(id: String, fields: [String: String]) {
        self.id = id
        var json = JSONWriter()
        json.object { json in
            json.text(id, for: "id")
            json.key("fields")
            json.fields(fields)
        }
        self.json = json.bytes
    }

    /// The approximate memory use.
    var byteCount: Int { 2 * id.utf8.count + json.count + 256 }

    package static func == (left: Self, right: Self) -> Bool { left.json == right.json }
}
