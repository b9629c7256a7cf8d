import ArgumentParser
import StorageKit

/// The versions of a row or a cell as `history` finds them, newest first.
struct HistorySource: PageSource {
    let target: TargetArgument

    /// The number of versions to find at once.
    private static let batch = 64

    func read(_ page: LinePage, in store: HistoryReader, to writer: PageWriter) throws {
        let row = try store.row(target)
        let filter = try store.filter(FilterOptions.parse([]), targets: [target])
        let versions = RowVersions(row, only: row.column.map { [$0] }, in: ChangeScan(store: store, filter: filter))
        guard !page.isBackward else {
            // The chain leads to older versions only, so it is followed from the newest version to the wanted ones.
            let limit: Int64 = if case .before(let cursor) = page { cursor.upperBound } else { 0 }
            return try readBackward(versions, newerThan: limit, in: store, row, writer)
        }
        var start: Int64?
        switch page {
        case .after(let cursor):
            guard let previous = try versions.previous(of: cursor.lowerBound) else { return }
            start = previous
        case .at(let position): start = position
        default: break
        }
        while true {
            let found = try versions.find(limit: Self.batch, from: start, needsAges: true)
            for version in found where try !add(version, in: store, row, writer) { return }
            guard found.count == Self.batch, let last = found.last,
                let previous = try versions.previous(of: last.position)
            else { return }
            start = previous
        }
    }

    private func readBackward(
        _ versions: RowVersions, newerThan limit: Int64, in store: HistoryReader, _ row: RowTarget, _ writer: PageWriter
    ) throws {
        // Only the last ones are wanted.
        var kept: [Int64] = []
        var start: Int64?
        repeat {
            let found = try versions.find(limit: 1_000, from: start, needsAges: false)
            kept = (kept + found.map(\.position).filter { $0 > limit }).suffix(1_000)
            start = nil
            if found.count == 1_000, let last = found.last, last.position > limit {
                start = try versions.previous(of: last.position)
            }
            try writer.check()
        } while start != nil
        for position in kept.reversed() {
            let found = try versions.find(limit: 1, from: position, needsAges: true)
            for version in found where try !add(version, in: store, row, writer) { return }
        }
    }

    private func add(
        _ version: RowVersions.Version, in store: HistoryReader, _ row: RowTarget, _ writer: PageWriter
    ) throws -> Bool {
        guard let event = try store.event(at: version.position) else { return true }
        let subject = LineSubject(
            commit: event.commit.number, actor: event.commit.metadata.actor, row: event.target, table: event.table)
        let head = ScreenLine(
            event.headline(showsTarget: false).limited, opens: .commit(event.commit.number), subject: subject)
        // In the history of a cell there is no narrower one.
        let target = row.column == nil ? event.target : nil
        let columns = event.columnLines(
            opening: target, only: row.column.map { [$0] }, notes: version.notes, subject: subject)
        let lines = columns.map { $0.opening(.commit(event.commit.number)) }
        return try writer.add(ScreenItem(at: version.position...version.position, [head] + lines))
    }
}

extension ScreenLine {
    /// Returns the line with a location to open, unless it has one.
    fileprivate func opening(_ location: Location) -> ScreenLine {
        guard opens == nil, case .text(let line) = content else { return self }
        return ScreenLine(line, opens: location, subject: subject)
    }
}
