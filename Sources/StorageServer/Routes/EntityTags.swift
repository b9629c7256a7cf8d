#if STORAGE_SERVER
    /// The condition in `If-Match` or `If-None-Match`: any version of a document, or the listed ones.
    ///
    /// A version names one state of a document exactly. So a tag that a proxy has weakened, because it has compressed the answer,
    /// is compared as the strong one, in both headers. Source: RFC 9110, sections 8.8.3, 13.1.1 and 13.1.2.
    enum EntityTags: Equatable {
        case any
        /// Tags that aren't versions of the hub are left out: no document has them.
        case listed([Int64])

        /// Parses a header.
        ///
        /// - Returns: nil if it is neither `*` nor a list of tags.
        init?(_ header: String) {
            guard header != "*" else {
                self = .any
                return
            }
            var versions: [Int64] = []
            var isEmpty = true
            var rest = header[...]
            while true {
                rest = rest.drop { " \t,".contains($0) }
                guard !rest.isEmpty else { break }
                guard let tag = Self.tag(from: &rest) else { return nil }
                isEmpty = false
                if let version = Self.version(tag) { versions.append(version) }
                rest = rest.drop { " \t".contains($0) }
                guard rest.isEmpty || rest.first == "," else { return nil }
            }
            guard !isEmpty else { return nil }
            self = .listed(versions)
        }

        /// Whether a version is one of them. Version 0 is that of a row that was written past the log, and names no state.
        func contains(_ version: Int64) -> Bool {
            switch self {
            case .any: true
            case .listed(let versions): version > 0 && versions.contains(version)
            }
        }

        /// The tag of a version; nil for 0.
        static func tag(of version: Int64) -> String? { version > 0 ? "\"\(version)\"" : nil }

        /// What is between the quotes of the next tag.
        private static func tag(from rest: inout Substring) -> Substring? {
            if rest.hasPrefix("W/") { rest = rest.dropFirst(2) }
            guard rest.first == "\"" else { return nil }
            rest = rest.dropFirst()
            let tag = rest.prefix { $0 != "\"" }
            rest = rest.dropFirst(tag.count)
            guard !rest.isEmpty else { return nil }
            rest = rest.dropFirst()
            return tag
        }

        private static func version(_ tag: Substring) -> Int64? {
            guard let version = Int64(tag), version > 0, "\(version)" == tag else { return nil }
            return version
        }
    }
#endif
