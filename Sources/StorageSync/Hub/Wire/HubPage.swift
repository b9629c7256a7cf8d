package import StorageCore

/// A range of a hub's history.
package struct HubPage: HubMessage, Sendable, Equatable {
    /// The id of the line that its positions belong to.
    package let line: [UInt8]
    package let page: SyncPage

    package init(line: [UInt8], page: SyncPage) {
        self.line = line
        self.page = page
    }

    package init(from json: inout JSONReader) throws {
        var line: [UInt8]?
        var (start, end): (Int64?, Int64?)
        var changes: [RemoteChange]?
        try json.object { key, json in
            switch key {
            case "line": line = try json.line()
            case "start": start = try json.integer()
            case "end": end = try json.integer()
            case "changes":
                changes = []
                try json.array { changes?.append(try RemoteChange(from: &$0)) }
            default: try json.ignore()
            }
        }
        self.line = try json.required(line, "line")
        page = SyncPage(
            start: try json.required(start, "start"), end: try json.required(end, "end"),
            changes: try json.required(changes, "changes"))
    }

    package func write(to json: inout JSONWriter) {
        json.object { json in
            json.text(Hexadecimal.text(line), for: "line")
            json.integer(page.start, for: "start")
            json.integer(page.end, for: "end")
            json.key("changes")
            json.array(page.changes) { $0.write(to: &$1) }
        }
    }
}

extension RemoteChange: HubMessage {
    package init(from json: inout JSONReader) throws {
        var (position, origin, others): (Int64?, Int64?, Int64?)
        var document = DocumentParts()
        try json.object { key, json in
            switch key {
            case "position": position = try json.integer()
            case "origin": origin = try json.integer()
            case "others": others = try json.integer()
            default: try document.take(key, &json)
            }
        }
        self.init(
            position: try json.required(position, "position"), document: try document.id(json),
            operation: try document.operation(json), ownOrigin: origin, otherPosition: others)
    }

    package func write(to json: inout JSONWriter) {
        json.object { json in
            json.integer(position, for: "position")
            DocumentParts.write(document, operation, to: &json)
            if let ownOrigin { json.integer(ownOrigin, for: "origin") }
            if let otherPosition { json.integer(otherPosition, for: "others") }
        }
    }
}
