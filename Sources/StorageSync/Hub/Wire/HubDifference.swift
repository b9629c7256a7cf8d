package import StorageCore
package import StorageViews

/// The steps that lead from one result of a live query to a later one.
package struct HubDifference: HubMessage, Sendable, Equatable {
    /// The position that the result reflects afterwards.
    package let position: Int64
    /// The steps, in order.
    package let changes: [ListChange<HubLiveDocument>]

    package init(position: Int64, changes: [ListChange<HubLiveDocument>]) {
        (self.position, self.changes) = (position, changes)
    }

    package init(from json: inout JSONReader) throws {
        var position: Int64?
        var changes: [ListChange<HubLiveDocument>]?
        try json.object { key, json in
            switch key {
            case "position": position = try json.integer()
            case "changes":
                changes = []
                try json.array { changes?.append(try ListChange(from: &$0)) }
            default: try json.ignore()
            }
        }
        self.position = try json.required(position, "position")
        self.changes = try json.required(changes, "changes")
    }

    package func write(to json: inout JSONWriter) {
        json.object { json in
            json.integer(position, for: "position")
            json.key("changes")
            json.array(changes) { $0.write(to: &$1) }
        }
    }
}

extension ListChange<HubLiveDocument> {
    fileprivate init(from json: inout JSONReader) throws {
        var (insert, update, move): (HubLiveDocument?, HubLiveDocument?, HubLiveDocument?)
        var (remove, index, from, to): (Int64?, Int64?, Int64?, Int64?)
        try json.object { key, json in
            switch key {
            case "insert": insert = try HubLiveDocument(from: &json)
            case "update": update = try HubLiveDocument(from: &json)
            case "move": move = try HubLiveDocument(from: &json)
            case "remove": remove = try json.integer()
            case "at": index = try json.integer()
            case "from": from = try json.integer()
            case "to": to = try json.integer()
            default: try json.ignore()
            }
        }
        if let insert {
            self = .insert(insert, at: Int(try json.required(index, "at")))
        } else if let update {
            self = .update(update, at: Int(try json.required(index, "at")))
        } else if let move {
            self = .move(move, from: Int(try json.required(from, "from")), to: Int(try json.required(to, "to")))
        } else {
            self = .remove(at: Int(try json.required(remove, "remove")))
        }
    }

    fileprivate func write(to json: inout JSONWriter) {
        json.object { json in
            switch self {
            case .insert(let document, let index):
                json.key("insert")
                document.write(to: &json)
                json.integer(Int64(index), for: "at")
            case .remove(let index): json.integer(Int64(index), for: "remove")
            case .update(let document, let index):
                json.key("update")
                document.write(to: &json)
                json.integer(Int64(index), for: "at")
            case .move(let document, let from, let to):
                json.key("move")
                document.write(to: &json)
                json.integer(Int64(from), for: "from")
                json.integer(Int64(to), for: "to")
            }
        }
    }
}
