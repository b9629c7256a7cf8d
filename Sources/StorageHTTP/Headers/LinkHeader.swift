#if STORAGE_HTTP
    /// The links of `Link` header fields.
    ///
    /// Source: RFC 8288, section 3, parsed as its appendix B.2 describes, with one exception: a field that isn't a list
    /// of links is an error. Treating it as the end of the pages would delete the rows of all the others.
    struct LinkHeader {
        private var rest: Substring.UTF8View

        /// The target of the first link with the relation `next`, as written; nil if there is none. Links of other
        /// documents (with an `anchor`) are ignored.
        ///
        /// - Parameter fields: The values of all `Link` fields of an answer.
        /// - Throws: ``Malformed``.
        /// - Complexity: O(*n*) in the length of the fields.
        static func next(in fields: [String]) throws(Malformed) -> String? {
            var found: String?
            for field in fields {
                var links = LinkHeader(rest: Substring(field).utf8)
                // All links are parsed even after a match: a malformed list isn't trusted at all.
                while let link = try links.link() {
                    guard found == nil, link.anchor == nil, let relations = link.relations else { continue }
                    if relations.lowercased().split(separator: " ").contains("next") { found = link.target }
                }
            }
            return found
        }

        /// A field isn't a list of links.
        struct Malformed: Error {}

        private struct Link {
            let target: String
            /// The first `rel`: others are ignored, according to section 3.3.
            var relations: String?
            var anchor: String?
        }

        private mutating func link() throws(Malformed) -> Link? {
            while skip(",") {}
            skipSpace()
            guard !rest.isEmpty else { return nil }
            guard skip("<"), let end = rest.firstIndex(of: UInt8(ascii: ">")) else { throw Malformed() }
            var link = Link(target: String(decoding: rest[..<end], as: UTF8.self))
            rest = rest[rest.index(after: end)...]
            while skip(";") {
                let name = token().lowercased()
                let value = skip("=") ? try value() : ""
                switch name {
                case "rel" where link.relations == nil: link.relations = value
                case "anchor": link.anchor = value
                default: break
                }
            }
            guard rest.isEmpty || rest.first == UInt8(ascii: ",") else { throw Malformed() }
            return link
        }

        private mutating func value() throws(Malformed) -> String {
            skipSpace()
            guard rest.first == UInt8(ascii: "\"") else { return token() }
            rest.removeFirst()
            var bytes: [UInt8] = []
            while let byte = rest.popFirst() {
                switch byte {
                case UInt8(ascii: "\""):
                    skipSpace()
                    return String(decoding: bytes, as: UTF8.self)
                case UInt8(ascii: "\\"):
                    guard let escaped = rest.popFirst() else { throw Malformed() }
                    bytes.append(escaped)
                default: bytes.append(byte)
                }
            }
            throw Malformed()
        }

        /// The text up to the next delimiter of the grammar.
        private mutating func token() -> String {
            skipSpace()
            let end = rest.firstIndex {
                [UInt8(ascii: "="), UInt8(ascii: ";"), UInt8(ascii: ","), 0x20, 0x09].contains($0)
            }
            let token = rest[..<(end ?? rest.endIndex)]
            rest = rest[(end ?? rest.endIndex)...]
            skipSpace()
            return String(decoding: token, as: UTF8.self)
        }

        private mutating func skip(_ sign: Unicode.Scalar) -> Bool {
            skipSpace()
            guard rest.first == UInt8(ascii: sign) else { return false }
            rest.removeFirst()
            return true
        }

        private mutating func skipSpace() {
            rest = rest.drop { $0 == 0x20 || $0 == 0x09 }
        }
    }
#endif
