/// The decoded names and values in the query of a URL.
package struct QueryItems: Sendable, Equatable {
    /// Why a query isn't what was expected. The messages contain nothing of what was sent.
    package struct Malformed: Error, Equatable, CustomStringConvertible {
        package let name: String
        package let problem: String

        package init(name: String, problem: String) {
            self.name = name
            self.problem = problem
        }

        package var description: String { "In the URL's query \(name) \(problem)." }
    }

    private var items: [(name: String, value: String)] = []

    package init() {}

    /// - Throws: ``Malformed`` if it isn't percent-encoded UTF-8, or contains NUL.
    package init(_ query: some StringProtocol) throws(Malformed) {
        for item in query.split(separator: "&") {
            let parts = item.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = PercentCoding.decoded(parts[0], isForm: true),
                let value = PercentCoding.decoded(parts.count > 1 ? parts[1] : "", isForm: true)
            else { throw Malformed(name: "a name or value", problem: "isn't percent-encoded UTF-8") }
            items.append((name, value))
        }
    }

    package static func == (left: QueryItems, right: QueryItems) -> Bool {
        left.items.elementsEqual(right.items) { $0 == $1 }
    }

    package mutating func add(_ name: String, _ value: String) { items.append((name, value)) }

    package var text: String {
        items.map { "\(PercentCoding.encoded($0.name))=\(PercentCoding.encoded($0.value))" }.joined(separator: "&")
    }

    package func values(_ name: String) -> [String] { items.filter { $0.name == name }.map(\.value) }

    /// - Throws: ``Malformed`` if the name is repeated.
    package func value(_ name: String) throws(Malformed) -> String? {
        let values = values(name)
        guard values.count < 2 else { throw Malformed(name: name, problem: "is there more than once") }
        return values.first
    }

    package func integer(_ name: String) throws(Malformed) -> Int64? {
        guard let text = try value(name) else { return nil }
        guard let number = Int64(text), String(number) == text, (0...JSONReader.largestInteger).contains(number) else {
            throw Malformed(name: name, problem: "isn't an integer from 0 to 2^53")
        }
        return number
    }

    package func bool(_ name: String) throws(Malformed) -> Bool? {
        switch try value(name) {
        case nil: return nil
        case "true": return true
        case "false": return false
        default: throw Malformed(name: name, problem: "isn't true or false")
        }
    }
}
