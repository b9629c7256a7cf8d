/// Metrics in the text form of Prometheus, read by its grammar: what doesn't fit is a fault.
package struct PrometheusSamples {
    /// Samples by name and labels as written.
    package private(set) var values: [String: Double] = [:]
    /// Lines that the grammar doesn't have, or that contradict what stands before them.
    package private(set) var faults: [String] = []

    package init(_ text: String) {
        let name = /[a-zA-Z_:][a-zA-Z0-9_:]*/
        let label = /[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\\n]|\\[\\"n])*"/
        var types: [String: String] = [:]
        var helped: Set<String> = []
        if !text.hasSuffix("\n") { faults.append("The last line has no end.") }
        for line in text.split(separator: "\n", omittingEmptySubsequences: false).dropLast() {
            if let found = try? /# HELP (\S+) (?:[^\\]|\\[\\n])+/.wholeMatch(in: line) {
                helped.insert(String(found.1))
            } else if let found = try? /# TYPE (\S+) (counter|gauge|histogram)/.wholeMatch(in: line) {
                if types.updateValue(String(found.2), forKey: String(found.1)) != nil { faults.append(String(line)) }
            } else if let found = try? /(\S+?)(\{.*\})? (\S+)/.wholeMatch(in: line), let value = Double(found.3),
                (try? name.wholeMatch(in: found.1)) != nil
            {
                let labels = found.2.map { $0.dropFirst().dropLast() } ?? ""
                let parts = labels.matches(of: label).map { String(labels[$0.range]) }
                let family = Self.family(of: String(found.1), types)
                let isCounter = types[family] == "counter"
                if parts.joined(separator: ",") != labels || types[family] == nil || !helped.contains(family)
                    || (isCounter && !family.hasSuffix("_total"))
                    || values[String(line.dropLast(found.3.count + 1))] != nil
                {
                    faults.append(String(line))
                }
                values[String(line.dropLast(found.3.count + 1))] = value
            } else {
                faults.append(String(line))
            }
        }
    }

    private static func family(of name: String, _ types: [String: String]) -> String {
        for suffix in ["_bucket", "_sum", "_count"] where name.hasSuffix(suffix) {
            let family = String(name.dropLast(suffix.count))
            if types[family] == "histogram" { return family }
        }
        return name
    }
}
