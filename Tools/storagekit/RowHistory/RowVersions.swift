import StorageKit

/// Finds the versions of a row along their chain, which leads from the newest to the oldest.
struct RowVersions {
    struct Version {
        let position: Int64
        /// For each column that an update changed, how long its old value had lasted, in microseconds.
        var ages: [Int64?] = []

        /// The ages as text, in the order of the columns.
        var notes: [String] { ages.map { age in age.map { "after \(Age.text(microseconds: $0))" } ?? "" } }
    }

    private let row: RowTarget
    /// The columns to determine ages of; all if nil.
    private let columns: [String]?
    private let scan: ChangeScan

    init(_ row: RowTarget, only columns: [String]?, in scan: ChangeScan) {
        self.row = row
        self.columns = columns
        self.scan = scan
    }

    /// Returns the wanted versions, newest first.
    ///
    /// - Parameters:
    ///   - start: The position of the first version; the newest if nil.
    ///   - needsAges: Whether to follow the chain further until all ages are known.
    func find(limit: Int, from start: Int64? = nil, needsAges: Bool) throws -> [Version] {
        var versions: [Version] = []
        /// The values in `versions` whose beginning isn't known yet, by the column's name, which a later column may reuse.
        var open: [String: [(version: Int, offset: Int, time: Int64)]] = [:]
        let isFull = { versions.count >= limit }
        try forEachOutline(from: start) { outline, index in
            let isWanted = !isFull() && scan.wants(index, of: outline, row: row)
            if isWanted { versions.append(Version(position: outline.header.first + Int64(index))) }
            guard needsAges else { return !isFull() }
            let (shape, time) = (outline.shape(ofEvent: index), outline.commit(ofEvent: index).time)
            let columns = shape.columns.map(name)
            // An insert sets all columns, including those that are NULL.
            for column in shape.operation == .insert ? Array(open.keys) : columns {
                for value in open.removeValue(forKey: column) ?? [] {
                    versions[value.version].ages[value.offset] = value.time - time
                }
            }
            if isWanted, shape.operation == .update {
                let shown = columns.filter { name in
                    self.columns.map { $0.contains { $0.utf8.elementsEqual(name.utf8) } } ?? true
                }
                versions[versions.count - 1].ages = Array(repeating: nil, count: shown.count)
                for (offset, column) in shown.enumerated() {
                    open[column, default: []].append((versions.count - 1, offset, time))
                }
            }
            return !isFull() || !open.isEmpty
        }
        return versions
    }

    /// Returns the position of the previous version; nil for the first.
    func previous(of position: Int64) throws -> Int64? {
        guard let outline = try scan.store.log.outline(containing: position) else { return nil }
        let previous = outline.previous(ofEvent: Int(position - outline.header.first))
        return previous > 0 ? previous : nil
    }

    private func forEachOutline(from start: Int64?, _ body: (SegmentOutline, Int) throws -> Bool) throws {
        let log = scan.store.log
        guard let start else { return try log.forEachVersionOutline(of: row.key, in: row.entity, body) }
        var next: Int64? = start
        while let position = next, let outline = try log.outline(containing: position) {
            guard try body(outline, Int(position - outline.header.first)) else { return }
            next = try previous(of: position)
        }
    }

    /// Returns the name of a column in events.
    private func name(_ column: UInt32) -> String {
        row.entity.columns.first { $0.id == column }?.name ?? "column \(column)"
    }
}
