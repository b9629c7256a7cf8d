internal import CSQLite
internal import StorageCore

extension LogReader {
    /// Calls `body` with the last event of each row of an entity that existed after a position, newest first, until it returns
    /// false.
    ///
    /// Reads the log once, backward. An event is the last one of its row if no later event points back to it, and no later insert
    /// has created the row again, because another program had deleted it. The memory is one bit for each position, and the keys of
    /// the rows whose inserts are read.
    package func forEachLastEvent(
        of entity: UInt32, at position: Int64, _ body: (EventBatch, Int) throws -> Bool
    ) throws {
        guard position > 0 else { return }
        var followed = PositionSet(through: position)
        var begun: Set<RowAddress> = []
        try forEachBatch(
            in: 1...position, descending: true, where: { $0.entities.contains(entity) }
        ) { batch in
            try batch.withView { view in
                for index in stride(from: view.count - 1, through: 0, by: -1) {
                    let shape = view.shape(of: index)
                    let eventPosition = batch.header.first + Int64(index)
                    guard shape.entity == entity, eventPosition <= position else { continue }
                    let previous = view.events[index].previous
                    if previous > 0, previous < eventPosition { followed.insert(previous) }
                    defer { if shape.isInsert, previous == 0 { begun.insert(RowAddress(view, at: index)) } }
                    guard !followed.contains(eventPosition), !shape.isDelete,
                        !begun.contains(RowAddress(view, at: index))
                    else { continue }
                    if try !body(batch, index) { return false }
                }
                return true
            }
        }
    }

    /// Follows a row's events backward to the first one that sets one of the columns and isn't ignored.
    ///
    /// - Returns: The event, and whether its commit is to be ignored, which is possible only for the row's first event.
    package func origin(
        _ batch: EventBatch, _ index: Int, columns: Set<UInt32>?, ignoring ignored: (CommitInfo) -> Bool
    ) throws -> (batch: EventBatch, index: Int, isIgnored: Bool) {
        var batch = batch
        var index = index
        while true {
            let (isInsert, isTouched, previous) = batch.withView { view in
                let shape = view.shape(of: index)
                let names = (0..<Int(shape.column_count)).map { shape.columns[$0] }
                return (
                    shape.isInsert, columns.map { !$0.isDisjoint(with: names) } ?? true,
                    view.events[index].previous
                )
            }
            let isIgnored = ignored(batch.commit(ofEvent: index))
            if isInsert { return (batch, index, isIgnored) }
            if isTouched, !isIgnored { return (batch, index, false) }
            guard let earlier = try self.batch(containing: previous) else {
                throw StorageError.corruptLog("position @\(previous) is missing")
            }
            batch = earlier
            index = Int(previous - earlier.header.first)
        }
    }
}
