internal import StorageLog

/// A query as it is sent. Of several limits the last one is written, and so it is with cursors, as they are what counts.
extension QueryBuilder: HubMessage {
    package init(from json: inout JSONReader) throws {
        self.init()
        var query = QueryBuilder()
        try json.object { key, json in
            switch key {
            case "filters": try json.array { query = try query.adding(filter: &$0) }
            case "orders": try json.array { query = try query.adding(order: &$0) }
            case "limit": query = query.limit(to: Int(try json.integer()))
            case "limitToLast": query = query.limit(toLast: Int(try json.integer()))
            case "startAt": query = query.start(at: try json.values())
            case "startAfter": query = query.start(after: try json.values())
            case "endAt": query = query.end(at: try json.values())
            case "endBefore": query = query.end(before: try json.values())
            default: try json.ignore()
            }
        }
        self = query
    }

    private func adding(filter json: inout JSONReader) throws -> QueryBuilder {
        var (field, name): (String?, String?)
        var value: JSONValue?
        try json.object { key, json in
            switch key {
            case "field": field = try json.string()
            case "operator": name = try json.string()
            case "value": value = try json.value()
            default: try json.ignore()
            }
        }
        guard let comparison = QueryOperator(rawValue: try json.required(name, "operator")) else {
            throw json.malformed("ends a filter with an operator that there isn't")
        }
        return adding(
            .filter(
                QueryFilter(
                    field: try json.required(field, "field"), operator: comparison,
                    value: try json.required(value, "value"))))
    }

    private func adding(order json: inout JSONReader) throws -> QueryBuilder {
        var field: String?
        var isDescending = false
        try json.object { key, json in
            switch key {
            case "field": field = try json.string()
            case "descending": isDescending = try json.bool()
            default: try json.ignore()
            }
        }
        return order(by: try json.required(field, "field"), descending: isDescending)
    }

    /// - Precondition: The query's values can be written as JSON; those that can't are written as null.
    package func write(to json: inout JSONWriter) {
        json.object { json in
            json.key("filters")
            json.array(getFilters()) { $0.write(to: &$1) }
            json.key("orders")
            json.array(getOrders()) { $0.write(to: &$1) }
            if let limit = getLimit() { json.integer(Int64(limit), for: "limit") }
            if let limit = getLimitToLast() { json.integer(Int64(limit), for: "limitToLast") }
            for (name, cursor) in [
                ("startAt", getStartAt()), ("startAfter", getStartAfter()), ("endAt", getEndAt()),
                ("endBefore", getEndBefore()),
            ] {
                guard let cursor else { continue }
                json.key(name)
                json.array(cursor) { $1.json(JSONText.ofQueried($0)) }
            }
        }
    }
}

extension QueryFilter {
    fileprivate func write(to json: inout JSONWriter) {
        json.object { json in
            json.string(field, for: "field")
            json.string(`operator`.rawValue, for: "operator")
            json.key("value")
            json.json(JSONText.ofQueried(value))
        }
    }
}

extension QueryOrder {
    fileprivate func write(to json: inout JSONWriter) {
        json.object { json in
            json.string(field, for: "field")
            json.bool(descending, for: "descending")
        }
    }
}

extension JSONReader {
    fileprivate mutating func value() throws -> JSONValue {
        let start = index
        let text = try text()
        do { return try StorageJSON.value(JSONValue.self, of: .text(text)) } catch {
            throw malformed("a value is expected that a query compares with", at: start)
        }
    }

    fileprivate mutating func values() throws -> [JSONValue] {
        var values: [JSONValue] = []
        try array { values.append(try $0.value()) }
        return values
    }
}
