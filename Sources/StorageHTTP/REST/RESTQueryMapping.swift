#if STORAGE_HTTP
    public import Foundation
    public import StorageSync

    /// How a query is written in a URL.
    ///
    /// ```swift
    /// rest.queryMapping = RESTQueryMapping { query in
    ///     try query.getFilters().map { URLQueryItem(name: $0.field, value: try RESTQueryMapping.text($0.value)) }
    /// }
    /// ```
    public struct RESTQueryMapping: Sendable {
        /// Creates the query items, or throws if the service can't express the query.
        ///
        /// - Throws: `StorageError` with `invalid-argument` for an unsupported query.
        public var items: @Sendable (QueryBuilder) throws -> [URLQueryItem]

        /// Creates a mapping with a closure.
        public init(_ items: @escaping @Sendable (QueryBuilder) throws -> [URLQueryItem]) { self.items = items }

        /// Writes `field=value` for equality; `field[ne]`, `[gt]`, `[gte]`, `[lt]`, `[lte]`, `[in]`, `[nin]`,
        /// `[contains]` and `[containsAny]` for other comparisons, with comma-separated lists; `sort=-a,b` for orders;
        /// and `limit=20`. Cursors and limits to the last documents throw `invalid-argument`.
        public static let brackets = RESTQueryMapping { query in
            var items: [URLQueryItem] = []
            var sort: [String] = []
            var limit: Int?
            for operation in query.getOperations() {
                switch operation {
                case .filter(let filter):
                    let name = filter.operator.bracket.map { "\(filter.field)[\($0)]" } ?? filter.field
                    items.append(URLQueryItem(name: name, value: try text(filter.value)))
                case .order(let order): sort.append((order.descending ? "-" : "") + order.field)
                case .limit(let count): limit = count
                case .limitToLast, .startAt, .startAfter, .endAt, .endBefore:
                    throw StorageError(
                        .invalidArgument, "The service doesn't support cursors or the last documents.",
                        remedy:
                            "Ask with conditions, orders and limit(to:), or give the remote a queryMapping of your own."
                    )
                }
            }
            if !sort.isEmpty { items.append(URLQueryItem(name: "sort", value: sort.joined(separator: ","))) }
            if let limit { items.append(URLQueryItem(name: "limit", value: "\(limit)")) }
            return items
        }

        /// Formats a value for a URL: texts unchanged, lists separated by commas, everything else as JSON.
        ///
        /// - Throws: `StorageError` with the code `invalid-value` if it can't be encoded as JSON, or a text in a list
        ///   contains a comma.
        public static func text(_ value: any DMCodableSendable) throws -> String {
            try text(try DocumentJSON.value(JSONValue.self, of: DocumentJSON.data(value)))
        }

        private static func text(_ value: JSONValue) throws -> String {
            switch value {
            case .null: "null"
            case .bool(let value): value ? "true" : "false"
            case .integer(let value): "\(value)"
            case .number(let value): "\(value)"
            case .string(let value): value
            case .array(let values): try values.map(element).joined(separator: ",")
            case .object: try DocumentJSON.text(value)
            }
        }

        private static func element(_ value: JSONValue) throws -> String {
            let text = try text(value)
            guard !text.contains(",") else {
                throw StorageError(
                    .invalidValue, "The list has the value \(text.debugDescription), which would be two in a URL.",
                    remedy: "Give the remote a queryMapping of your own that writes lists as the service reads them.")
            }
            return text
        }
    }

    extension QueryOperator {
        /// The text in brackets; nil for equality.
        fileprivate var bracket: String? {
            switch self {
            case .isEqualTo: nil
            case .isNotEqualTo: "ne"
            case .isGreaterThan: "gt"
            case .isGreaterThanOrEqualTo: "gte"
            case .isLessThan: "lt"
            case .isLessThanOrEqualTo: "lte"
            case .arrayContains: "contains"
            case .arrayContainsAny: "containsAny"
            case .in: "in"
            case .notIn: "nin"
            }
        }
    }
#endif
