package import StorageCore

/// Begins a session of a producer.
package struct HubHello: HubMessage, Sendable, Equatable {
    /// The client's name for it.
    package let producer: String
    package let epoch: Int64

    package init(producer: String, epoch: Int64) {
        self.producer = producer
        self.epoch = epoch
    }

    package init(from json: inout JSONReader) throws {
        var producer: String?
        var epoch: Int64?
        try json.object { key, json in
            switch key {
            case "producer": producer = try json.string()
            case "epoch": epoch = try json.integer()
            default: try json.ignore()
            }
        }
        self.producer = try json.required(producer, "producer")
        self.epoch = try json.required(epoch, "epoch")
    }

    package func write(to json: inout JSONWriter) {
        json.object { json in
            json.text(producer, for: "producer")
            json.integer(epoch, for: "epoch")
        }
    }
}

extension SyncWelcome: HubMessage {
    package init(from json: inout JSONReader) throws {
        var lines: [RemoteLine]?
        var (head, lastNumber): (Int64?, Int64?)
        var results: [NumberedResult] = []
        var lastSession: SyncSession?
        var access: String?
        try json.object { key, json in
            switch key {
            case "lines":
                lines = []
                try json.array { lines?.append(try RemoteLine(from: &$0)) }
            case "head": head = try json.integer()
            case "lastNumber": lastNumber = try json.integer()
            case "results": results = try HubResults(elements: &json).results
            case "lastSession": lastSession = try SyncSession(from: &json)
            case "access": access = try json.string()
            default: try json.ignore()
            }
        }
        self.init(
            lines: try json.required(lines, "lines"), head: try json.required(head, "head"),
            lastNumber: try json.required(lastNumber, "lastNumber"), results: results,
            lastSession: lastSession, access: access)
    }

    package func write(to json: inout JSONWriter) {
        json.object { json in
            json.key("lines")
            json.array(lines) { $0.write(to: &$1) }
            json.integer(head, for: "head")
            json.integer(lastNumber, for: "lastNumber")
            json.key("results")
            json.array(results) { $0.write(to: &$1) }
            if let lastSession {
                json.key("lastSession")
                lastSession.write(to: &json)
            }
            if let access { json.text(access, for: "access") }
        }
    }
}

extension RemoteLine: HubMessage {
    package init(from json: inout JSONReader) throws {
        var id: [UInt8]?
        var fork: Int64?
        try json.object { key, json in
            switch key {
            case "id": id = try json.line()
            case "fork": fork = try json.integer()
            default: try json.ignore()
            }
        }
        self.init(id: try json.required(id, "id"), fork: try json.required(fork, "fork"))
    }

    package func write(to json: inout JSONWriter) {
        json.object { json in
            json.text(Hexadecimal.text(id), for: "id")
            json.integer(fork, for: "fork")
        }
    }
}

extension SyncSession: HubMessage {
    package init(from json: inout JSONReader) throws {
        var epoch: Int64?
        var line: [UInt8]?
        try json.object { key, json in
            switch key {
            case "epoch": epoch = try json.integer()
            case "line": line = try json.line()
            default: try json.ignore()
            }
        }
        self.init(epoch: try json.required(epoch, "epoch"), line: try json.required(line, "line"))
    }

    package func write(to json: inout JSONWriter) {
        json.object { json in
            json.integer(epoch, for: "epoch")
            json.text(Hexadecimal.text(line), for: "line")
        }
    }
}
