package import StorageCore

extension HubLiveDocument: HubMessage {
    package init(from json: inout JSONReader) throws {
        var id: String?
        var fields: [String: String]?
        try json.object { key, json in
            switch key {
            case "id": id = try json.string()
            case "fields": fields = try json.fields()
            default: try json.ignore()
            }
        }
        self.init(id: try json.required(id, "id"), fields: try json.required(fields, "fields"))
    }

    package func write(to json: inout JSONWriter) { self.json.withUnsafeBytes { json.raw($0) } }

    /// JSON texts by key.
    ///
    /// - Throws: ``JSONReader/Malformed``, unless it was made by the hub.
    package var fields: [String: String] {
        get throws {
            var fields: [String: String] = [:]
            var reader = try JSONReader(json)
            try reader.object { key, json in
                if key == "fields" { fields = try json.fields() } else { try json.ignore() }
            }
            return fields
        }
    }
}
