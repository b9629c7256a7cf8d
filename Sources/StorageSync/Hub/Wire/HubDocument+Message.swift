package import StorageCore

extension HubDocument: HubMessage {
    package init(from json: inout JSONReader) throws {
        var id: String?
        var version: Int64?
        var fields: [String: String]?
        try json.object { key, json in
            switch key {
            case "id": id = try json.string()
            case "version": version = try json.integer()
            case "fields": fields = try json.fields()
            default: try json.ignore()
            }
        }
        self.init(
            id: try json.required(id, "id"), version: try json.required(version, "version"),
            fields: try json.required(fields, "fields"))
    }

    package func write(to json: inout JSONWriter) {
        json.object { json in
            json.text(id, for: "id")
            json.integer(version, for: "version")
            json.key("fields")
            json.fields(fields)
        }
    }
}

extension HubDocument {
    /// - Throws: `invalid-value` if the fields don't decode as such a document.
    package func model<T: DataSyncModelProtocol>(_ type: T.Type = T.self) throws -> T {
        var fields = fields
        // Documents of entities that were created by clients omit the id from their fields, unless the first document
        // contained it.
        if fields["id"] == nil { fields["id"] = JSONText.quoted(id) }
        return try DocumentFields(fields).document()
    }
}

/// If more documents follow, `next` is the last document's id.
extension HubDocumentPage: HubMessage {
    package init(from json: inout JSONReader) throws {
        var line: [UInt8]?
        var position: Int64?
        var documents: [HubDocument]?
        var next: String?
        try json.object { key, json in
            switch key {
            case "line": line = try json.line()
            case "position": position = try json.integer()
            case "documents":
                documents = []
                try json.array { documents?.append(try HubDocument(from: &$0)) }
            case "next": next = try json.string()
            default: try json.ignore()
            }
        }
        self.init(
            documents: try json.required(documents, "documents"), hasMore: next != nil,
            position: try json.required(position, "position"), line: try json.required(line, "line"))
    }

    package func write(to json: inout JSONWriter) {
        json.object { json in
            json.text(Hexadecimal.text(line), for: "line")
            json.integer(position, for: "position")
            json.key("documents")
            json.array(documents) { $0.write(to: &$1) }
            if hasMore, let last = documents.last { json.text(last.id, for: "next") }
        }
    }
}

/// The fields of one document, or those that change: null for removed ones.
package struct HubFields: HubMessage, Sendable, Equatable {
    /// JSON texts by key.
    package let values: [String: String]

    package init(_ values: [String: String]) { self.values = values }

    /// A whole document.
    ///
    /// - Throws: `invalid-value` if it can't be encoded as a JSON object.
    package init(encoding document: some DataSyncModelProtocol) throws {
        values = try DocumentFields(encoding: document).values
    }

    /// - Throws: `invalid-value` for a value that can't be encoded as JSON.
    package init(changing data: [String: any DMCodableSendable]) throws {
        values = try data.mapValues { try JSONText.of($0) }
    }

    /// The values in the form of an operation.
    package var columns: [String: StorageValue] { values.mapValues { .text($0) } }

    package init(from json: inout JSONReader) throws { values = try json.fields() }

    package func write(to json: inout JSONWriter) { json.fields(values) }
}

/// The outcome of a single write.
package struct HubWritten: HubMessage, Sendable, Equatable {
    package let id: String
    /// The document's version.
    package let version: Int64
    /// A reader at this position sees the write.
    package let position: Int64

    package init(id: String, version: Int64, position: Int64) {
        self.id = id
        self.version = version
        self.position = position
    }

    package init(from json: inout JSONReader) throws {
        var id: String?
        var (version, position): (Int64?, Int64?)
        try json.object { key, json in
            switch key {
            case "id": id = try json.string()
            case "version": version = try json.integer()
            case "position": position = try json.integer()
            default: try json.ignore()
            }
        }
        self.id = try json.required(id, "id")
        self.version = try json.required(version, "version")
        self.position = try json.required(position, "position")
    }

    package func write(to json: inout JSONWriter) {
        json.object { json in
            json.text(id, for: "id")
            json.integer(version, for: "version")
            json.integer(position, for: "position")
        }
    }
}
