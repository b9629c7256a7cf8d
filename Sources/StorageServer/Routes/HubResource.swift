#if STORAGE_SERVER
    internal import HTTPTypes
    internal import StorageSync

    /// The resource at a path of the hub.
    enum HubResource: Equatable {
        case health
        case openAPI
        case client
        case status
        case metrics
        case collections
        case changes
        case hello
        case push
        case documents(of: String)
        case query(of: String)
        case document(String, of: String)

        /// - Parameter path: The percent-encoded path of the request.
        /// - Returns: nil if there is no resource, or the encoding is invalid.
        init?(path: some StringProtocol) {
            var parts: [String] = []
            for part in path.split(separator: "/", omittingEmptySubsequences: false).dropFirst() {
                guard let name = PercentCoding.decoded(part) else { return nil }
                parts.append(name)
            }
            switch parts.count {
            case 1 where parts[0] == "health": self = .health
            case 1 where parts[0] == "openapi.json": self = .openAPI
            case 1 where parts[0] == "storagekit.js": self = .client
            case 1 where parts[0] == "metrics": self = .metrics
            case 2... where parts[0] == "v1": self.init(parts: Array(parts.dropFirst()))
            default: return nil
            }
        }

        private init?(parts: [String]) {
            switch (parts[0], parts.count) {
            case ("status", 1): self = .status
            case ("collections", 1): self = .collections
            case ("changes", 1): self = .changes
            case ("sync", 2) where parts[1] == "hello": self = .hello
            case ("sync", 2) where parts[1] == "push": self = .push
            case ("collections", 3) where !parts[1].isEmpty && parts[2] == "documents": self = .documents(of: parts[1])
            case ("collections", 3) where !parts[1].isEmpty && parts[2] == "query": self = .query(of: parts[1])
            case ("collections", 4) where !parts[1].isEmpty && parts[2] == "documents" && !parts[3].isEmpty:
                self = .document(parts[3], of: parts[1])
            default: return nil
            }
        }

        /// The supported methods, except `OPTIONS`.
        var methods: [HTTPRequest.Method] {
            switch self {
            case .health, .openAPI, .client, .status, .metrics, .collections, .changes, .documents: [.get, .head]
            case .hello, .push, .query: [.post]
            case .document: [.get, .head, .put, .patch, .delete]
            }
        }

        /// Whether it requires no token.
        var isPublic: Bool { [.health, .openAPI, .client].contains(self) }
    }
#endif
