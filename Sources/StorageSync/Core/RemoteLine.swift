/// A part of a remote's history. One that goes on from a backup begins another line, because what came behind the backup is no
/// part of its history any more.
package struct RemoteLine: Sendable, Equatable, Codable {
    /// Random bytes.
    package let id: [UInt8]
    /// The last position that belongs to the line before; 0 in the first.
    package let fork: Int64

    package init(id: [UInt8], fork: Int64) {
        self.id = id
        self.fork = fork
    }
}

extension [RemoteLine] {
    /// Up to which position two histories are the same; `.max` where the lines alone set no end.
    func sharedEnd(with other: [RemoteLine]) -> Int64 {
        let count = zip(self, other).prefix { $0.id == $1.id }.count
        guard count > 0 else { return 0 }
        return [self, other].compactMap { $0.count > count ? $0[count].fork : nil }.min() ?? .max
    }
}
