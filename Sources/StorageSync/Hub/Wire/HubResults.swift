package import StorageCore

/// The outcomes of a batch's writes.
package struct HubResults: HubMessage, Sendable, Equatable {
    package var results: [NumberedResult]

    package init(_ results: [NumberedResult]) { self.results = results }

    package init(from json: inout JSONReader) throws {
        var results: HubResults?
        try json.object { key, json in
            if key == "results" { results = try HubResults(elements: &json) } else { try json.ignore() }
        }
        self = try json.required(results, "results")
    }

    /// Reads the array alone.
    init(elements json: inout JSONReader) throws {
        results = []
        try json.array { results.append(try NumberedResult(from: &$0)) }
    }

    package func write(to json: inout JSONWriter) {
        json.object { json in
            json.key("results")
            json.array(results) { $0.write(to: &$1) }
        }
    }
}

extension NumberedResult: HubMessage {
    package init(from json: inout JSONReader) throws {
        var (number, position): (Int64?, Int64?)
        var (status, reason, detail): (String?, String?, String?)
        try json.object { key, json in
            switch key {
            case "number": number = try json.integer()
            case "position": position = try json.integer()
            case "status": status = try json.string()
            case "reason": reason = try json.string()
            case "detail": detail = try json.string()
            default: try json.ignore()
            }
        }
        let result: WriteResult =
            switch try json.required(status, "status") {
            case "applied": .applied(at: try json.required(position, "position"))
            case "rejected":
                .rejected(
                    reason == "conflict"
                        ? .conflict(at: try json.required(position, "position"))
                        : WriteRejection(reason: try json.required(reason, "reason"), detail: detail))
            case "blocked": .blocked
            default: throw json.malformed("ends a result that isn't applied, rejected or blocked")
            }
        self.init(number: try json.required(number, "number"), result: result)
    }

    package func write(to json: inout JSONWriter) {
        json.object { json in
            json.integer(number, for: "number")
            switch result {
            case .applied(let position):
                json.text("applied", for: "status")
                json.integer(position, for: "position")
            case .rejected(let rejection):
                json.text("rejected", for: "status")
                json.text(rejection.reason, for: "reason")
                switch rejection {
                case .invalid(let detail): json.text(detail, for: "detail")
                case .conflict(let position): json.integer(position, for: "position")
                case .deleted, .missing, .unknown: break
                }
            case .blocked: json.text("blocked", for: "status")
            }
        }
    }
}

extension WriteRejection {
    fileprivate init(reason: String, detail: String?) {
        self =
            switch reason {
            case "deleted": .deleted
            case "missing": .missing
            case "unknown": .unknown
            // A reason that this version doesn't know is a rejection, too.
            default: .invalid(detail ?? reason)
            }
    }

    fileprivate var reason: String {
        switch self {
        case .deleted: "deleted"
        case .missing: "missing"
        case .conflict: "conflict"
        case .unknown: "unknown"
        case .invalid: "invalid"
        }
    }
}
