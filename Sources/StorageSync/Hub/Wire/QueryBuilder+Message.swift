package import StorageCore
internal import StorageLog

/// A query as it is sent. If there are several limits or cursors, only the last one, which counts, is written.
///
/// Each document is tested against each filter, and sorted by each order, so their number is limited, as is that of a
/// cursor's values.
extension QueryBuilder: HubMessage {
    /// The maximum number of filters, orders, and values of a cursor.
    package static let maximumParts = 100

    package init(from json: inout JSONReader) throws {
        self.init()
        // Appended in place: changing a query as a value copies it each time.
        try json.object { key, json in
            switch key {
            case "filters": try json.limitedArray("filters") { append(.filter(try QueryFilter(from: &$0))) }
            case "orders": try json.limitedArray("orders") { append(.order(try QueryOrder(from: &$0))) }
            case "limit": append(.limit(Int(try json.integer())))
            case "limitToLast": append(.limitToLast(Int(try json.integer())))
            case "startAt": append(.startAt(try json.cursor()))
            case "startAfter": append(.startAfter(try json.cursor()))
            case "endAt": append(.endAt(try json.cursor()))
            case "endBefore": append(.endBefore(try json.cursor()))
            default: try json.ignore()
            }
        }
    }

    /// - Precondition: The query's values can be encoded as JSON; others are written as null.
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
                json.array(cursor) { $1.raw(JSONText.ofQueried($0)) }
            }
        }
    }
}

extension QueryFilter {
    fileprivate init(from json: inout JSONReader) throws {
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
        self.init(
            field: try json.required(field, "field"), operator: comparison, value: try json.required(value, "value"))
    }

    fileprivate func write(to json: inout JSONWriter) {
        json.object { json in
            json.text(field, for: "field")
            json.text(`operator`.rawValue, for: "operator")
            json.key("value")
            json.raw(JSONText.ofQueried(value))
        }
    }
}

extension QueryOrder {
    fileprivate init(from json: inout JSONReader) throws {
        var field: String?
        var isDescending = false
        try json.object { key, json in
            switch key {
            case "field": field = try json.string()
            case "descending": isDescending = try json.bool()
            default: try json.ignore()
            }
        }
        self.init(field: try json.required(field, "field"), descending: isDescending)
    }

    fileprivate func write(to json: inout JSONWriter) {
        json.object { json in
            json.text(field, for: "field")
            json.bool(descending, for: "descending")
        }
    }
}

extension JSONReader {
    fileprivate mutating func value() throws -> JSONValue {
        let start = index
        let text = try text()
        do { return try _StorageJSON.value(JSONValue.self, of: .text(text)) } catch {
            throw malformed("a value is expected that a query compares with", at: start)
        }
    }

    fileprivate mutating func cursor() throws -> QueryCursor {
        var values: [JSONValue] = []
        try limitedArray("values of a cursor") { values.append(try $0.value()) }
        return QueryCursor(values: values)
    }

    fileprivate mutating func limitedArray(_ name: String, _ element: (inout JSONReader) throws -> Void) throws {
        var count = 0
        try array { json in
            count += 1
            guard count <= QueryBuilder.maximumParts else {
                throw json.malformed("a query has more than \(QueryBuilder.maximumParts) \(name)")
            }
            try element(&json)
        }
    }
}
