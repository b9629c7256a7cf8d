/// A segment of a remote's history. A remote that was restored from a backup begins another line, because everything
/// after the backup is no longer part of its history.
package struct RemoteLine: Sendable, Equatable, Codable {
    /// Random bytes.
    package let id: [UInt8]
    /// The last position that belongs to the previous line; 0 in the first line.
    package let fork: Int64

    package init(id: [UInt8], fork: Int64) {
        self.id = id
        self.fork = fork
    }
}

extension [RemoteLine] {
    /// The position up to which two histories are the same; `.max` if the lines alone imply no end.
    func sharedEnd(with other: [RemoteLine]) -> Int64 {
        let count = zip(self, other).prefix { $0.id == $1.id }.count
        guard count > 0 else { return 0 }
        return [self, other].compactMap { $0.count > count ? $0[count].fork : nil }.min() ?? .max
    }
}
