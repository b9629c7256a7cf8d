package import StorageCore

/// A batch names its producer as the client does; the hub adds a prefix, see ``HubAccess/producer(_:)``.
extension HubBatch: HubMessage {
    package init(from json: inout JSONReader) throws {
        var producer: String?
        var (epoch, firstNumber): (Int64?, Int64?)
        var line: [UInt8]?
        var writes: [HubWrite]?
        try json.object { key, json in
            switch key {
            case "producer": producer = try json.string()
            case "epoch": epoch = try json.integer()
            case "line": line = try json.line()
            case "firstNumber": firstNumber = try json.integer()
            case "writes":
                writes = []
                try json.array { writes?.append(try HubWrite(from: &$0)) }
            default: try json.ignore()
            }
        }
        self.init(
            producer: ProducerID(try json.required(producer, "producer")), epoch: try json.required(epoch, "epoch"),
            line: try json.required(line, "line"), firstNumber: try json.required(firstNumber, "firstNumber"),
            writes: try json.required(writes, "writes"))
    }

    package func write(to json: inout JSONWriter) {
        json.object { json in
            json.text(producer.value, for: "producer")
            json.integer(epoch, for: "epoch")
            json.text(Hexadecimal.text(line), for: "line")
            json.integer(firstNumber, for: "firstNumber")
            json.key("writes")
            json.array(writes) { $0.write(to: &$1) }
        }
    }
}

extension HubWrite: HubMessage {
    package init(from json: inout JSONReader) throws {
        var (origin, base): (Int64?, Int64?)
        var isConditional = false
        var document = DocumentParts()
        try json.object { key, json in
            switch key {
            case "origin": origin = try json.integer()
            case "base": base = try json.integer()
            case "conditional": isConditional = try json.bool()
            default: try document.take(key, &json)
            }
        }
        self.init(
            origin: try json.required(origin, "origin"), document: try document.id(json),
            operation: try document.operation(json), base: try json.required(base, "base"),
            isConditional: isConditional)
    }

    package func write(to json: inout JSONWriter) {
        json.object { json in
            json.integer(origin, for: "origin")
            json.integer(base, for: "base")
            if isConditional { json.bool(true, for: "conditional") }
            DocumentParts.write(document, operation, to: &json)
        }
    }
}

/// The document parts of writes and changes, key by key.
struct DocumentParts {
    private var collection: String?
    private var id: String?
    private var name: String?
    private var fields: [String: String]?

    mutating func take(_ key: String, _ json: inout JSONReader) throws {
        switch key {
        case "collection": collection = try json.string()
        case "id": id = try json.string()
        case "operation": name = try json.string()
        case "fields": fields = try json.fields()
        default: try json.ignore()
        }
    }

    func id(_ json: JSONReader) throws(JSONReader.Malformed) -> DocumentID {
        DocumentID(entity: try json.required(collection, "collection"), id: try json.required(id, "id"))
    }

    func operation(_ json: JSONReader) throws(JSONReader.Malformed) -> WriteOperation {
        let values = fields.map { $0.mapValues { StorageValue.text($0) } }
        switch try json.required(name, "operation") {
        case "save": return .save(try json.required(values, "fields"))
        case "patch": return .patch(try json.required(values, "fields"))
        case "delete": return .delete
        default: throw json.malformed("ends an operation that isn't save, patch or delete")
        }
    }

    static func write(_ document: DocumentID, _ operation: WriteOperation, to json: inout JSONWriter) {
        json.text(document.entity, for: "collection")
        json.text(document.id, for: "id")
        switch operation {
        case .save(let values): write("save", values, to: &json)
        case .patch(let values): write("patch", values, to: &json)
        case .delete: json.text("delete", for: "operation")
        }
    }

    private static func write(_ name: String, _ values: [String: StorageValue], to json: inout JSONWriter) {
        json.text(name, for: "operation")
        json.key("fields")
        json.fields(values.texts)
    }
}
