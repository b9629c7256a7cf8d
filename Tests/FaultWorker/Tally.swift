/// What a run did and what it found, printed as lines that the tests read.
struct Tally {
    private(set) var counts: [String: Int] = [:]
    private(set) var findings: [String] = []

    mutating func count(_ name: String, _ number: Int) { counts[name, default: 0] += number }

    mutating func add(_ finding: Finding, _ place: String) {
        count(finding.kind.rawValue, 1)
        // Told by its count: it is a defect that is known.
        guard finding.kind != .stillborn else { return }
        findings.append("\(place): \(finding)")
    }

    mutating func add(_ other: Tally) {
        for (name, number) in other.counts { count(name, number) }
        findings += other.findings
    }

    func print() {
        for finding in findings.prefix(50) { FaultWorker.say("finding \(finding.replacing("\n", with: " "))") }
        for (name, number) in counts.sorted(by: { $0.key < $1.key }) { FaultWorker.say("count \(name) \(number)") }
    }
}
