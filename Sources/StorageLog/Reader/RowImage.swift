internal import CSQLite
internal import Foundation
package import StorageCore

/// A row as it was after a position, each value with the event that set it.
package struct RowImage: Sendable {
    package struct Cell: Sendable {
        package let value: ExactValue
        /// Position of the event that set the value.
        package fileprivate(set) var setAt: Int64
        /// Whether that event belongs to a commit that was to be ignored, but no earlier event sets the value.
        package fileprivate(set) var isIgnored = false
    }

    /// Position of the row's last event.
    package let position: Int64
    /// Cells by the column's id. A column that the row's events don't name is missing.
    package fileprivate(set) var cells: [UInt32: Cell] = [:]
    /// The event that inserted the row; nil if the search ended before it.
    package fileprivate(set) var insert: Cell?

    /// A column's value; its default if the row is older than the column and never got another value.
    package func value(of column: CatalogColumn) -> ExactValue {
        cells[column.id]?.value ?? ExactValue(column.fallback)
    }

    /// The origin of a column's value; the row's insert if no event names the column.
    package func origin(of column: CatalogColumn) -> Cell? { cells[column.id] ?? insert }
}

extension LogReader {
    /// A row as it was after a position. Costs one look-up for each of its versions, back to where all values are known.
    ///
    /// - Parameters:
    ///   - columns: The wanted columns; all if nil.
    ///   - ignored: Commits to ignore: a value that they set counts as set by the event before.
    /// - Returns: nil if there was no such row.
    package func image(
        of key: [StorageValue], in entity: CatalogEntity, at position: Int64 = .max, columns: Set<UInt32>? = nil,
        ignoring ignored: (CommitInfo) -> Bool = { _ in false }
    ) throws -> RowImage? {
        var builder = RowImageBuilder(columns: columns)
        try forEachVersion(of: key, in: entity) { batch, index in
            guard batch.header.first + Int64(index) <= position else { return true }
            return builder.add(batch, index, isIgnored: ignored(batch.commit(ofEvent: index)))
        }
        return builder.image
    }

    /// A row as it was after one of its events.
    ///
    /// - Returns: The row, nil after a delete, and the position of its previous event; 0 if there is none.
    /// - Complexity: One look-up for each of the row's versions, back to where all values are known.
    package func image(ofEventAt position: Int64) throws -> (image: RowImage?, previous: Int64) {
        var builder = RowImageBuilder(columns: nil)
        var previous: Int64?
        var eventPosition = position
        while eventPosition > 0 {
            guard let batch = try batch(containing: eventPosition) else {
                throw StorageError.corruptLog("position @\(eventPosition) is missing")
            }
            let index = Int(eventPosition - batch.header.first)
            let before = batch.withView { $0.events[index].previous }
            guard before < eventPosition else {
                throw StorageError.corruptLog("event @\(eventPosition) points ahead of itself")
            }
            previous = previous ?? before
            guard builder.add(batch, index, isIgnored: false) else { break }
            eventPosition = before
        }
        return (builder.image, previous ?? 0)
    }
}

extension LogReader {
    /// The position of the previous event of the same row; 0 if there is none.
    package func previous(ofEventAt position: Int64) throws -> Int64 {
        guard let batch = try batch(containing: position) else {
            throw StorageError.corruptLog("position @\(position) is missing")
        }
        return batch.withView { $0.events[Int(position - batch.header.first)].previous }
    }

    /// A row as it was after one of its events.
    ///
    /// - Parameter before: The row as it was before that event.
    /// - Returns: nil after a delete.
    /// - Complexity: One look-up, however many versions the row has.
    package func image(ofEventAt position: Int64, on before: RowImage?) throws -> RowImage? {
        guard let batch = try batch(containing: position) else {
            throw StorageError.corruptLog("position @\(position) is missing")
        }
        var builder = RowImageBuilder(columns: nil)
        guard builder.add(batch, Int(position - batch.header.first), isIgnored: false), var image = builder.image else {
            return builder.image
        }
        image.cells.merge(before?.cells ?? [:]) { new, _ in new }
        image.insert = before?.insert
        return image
    }
}

/// Assembles a row from its events, newest first.
package struct RowImageBuilder {
    private let columns: Set<UInt32>?
    package private(set) var image: RowImage?
    /// Columns whose values are known, but set by ignored commits.
    private var open: Set<UInt32> = []

    package init(columns: Set<UInt32>?) { self.columns = columns }

    /// - Returns: Whether more events are needed.
    package mutating func add(_ batch: EventBatch, _ index: Int, isIgnored: Bool) -> Bool {
        let position = batch.header.first + Int64(index)
        return batch.withView { view in
            let shape = view.shape(of: index)
            guard !shape.isDelete else { return false }
            let isUpdate = shape.isUpdate
            var image = image ?? RowImage(position: position)
            let values = view.columns(of: index) + (isUpdate ? Int(shape.column_count) : 0)
            for offset in 0..<Int(shape.column_count) {
                let column = shape.columns[offset]
                guard columns?.contains(column) ?? true else { continue }
                if image.cells[column] == nil {
                    image.cells[column] = RowImage.Cell(
                        value: ExactValue(values[offset], bytes: view.bytes), setAt: position, isIgnored: isIgnored)
                    if isIgnored { open.insert(column) }
                } else if open.contains(column), !isIgnored {
                    image.cells[column]?.setAt = position
                    image.cells[column]?.isIgnored = false
                    open.remove(column)
                }
            }
            if !isUpdate { finish(&image, at: position, isIgnored: isIgnored) }
            self.image = image
            guard isUpdate else { return false }
            return !open.isEmpty || columns.map { image.cells.count < $0.count } ?? true
        }
    }

    /// Completes the image at the event that inserted the row, before which there are no others.
    private mutating func finish(_ image: inout RowImage, at position: Int64, isIgnored: Bool) {
        for column in open { image.cells[column]?.setAt = position }
        open = []
        image.insert = RowImage.Cell(value: .null, setAt: position, isIgnored: isIgnored)
    }
}
