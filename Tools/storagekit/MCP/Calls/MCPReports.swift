/// The state that a command's process reports to have read.
struct MCPReports: Equatable, Sendable {
    /// The newest event, its commit and time; nil if there is none, or if the state can't be read.
    private(set) var position: Int?
    private(set) var commit: Int?
    private(set) var time: String?
    /// The positions of points, in the order in which they were resolved.
    private(set) var points: [Point] = []

    struct Point: Equatable, Sendable {
        let name: String
        let position: Int
    }

    /// - Parameter line: A line as ``ServedCommand`` writes it.
    mutating func add(_ line: String) {
        let words = line.split(separator: " ", maxSplits: 2).map(String.init)
        guard words.count > 1, let position = Int(words[1]) else { return }
        let rest = words.count > 2 ? words[2] : ""
        if words[0] == "state" {
            self.position = position
            let parts = rest.split(separator: " ").map(String.init)
            commit = parts.first.flatMap { Int($0) }
            time = parts.count > 1 ? parts[1] : nil
        } else if !points.contains(where: { $0.name == rest }) {
            points.append(Point(name: rest, position: position))
        }
    }
}
