internal import CSQLite
internal import StorageCore
internal import StorageLog

/// The newest image of each row of an entity, collected in a temporary file beside the store, so that the writer is
/// troubled only with copying them.
///
/// Sound as `@unchecked Sendable`: one task makes it and lets the writer's queue copy from it, and waits meanwhile, so
/// that one thread at a time has it.
final class CollectedImages: @unchecked Sendable {
    let entity: UInt32
    /// The images are those after this position.
    let position: Int64
    private let scratch: ScratchTables
    private let images: LastImages
    /// The rows that haven't been copied yet; nil once there are none.
    private var rows: Statement?

    /// Reads the log backwards from a position.
    ///
    /// - Returns: nil where there are more rows than memory is spent on.
    static func collect(
        _ entity: CatalogEntity, from database: OpaquePointer, through position: Int64,
        progress: (Int64) throws -> Void
    ) throws -> CollectedImages? {
        let scratch = try ScratchTables()
        try Statement(scratch.database, "BEGIN").execute()
        let images = try LastImages(scratch.database, entity, tombstones: "tombstone")
        do {
            try LogReader(database).forEachBatch(in: 1...position, descending: true, where: images.wants) { batch in
                try images.apply(batch, through: position)
                try progress(batch.header.first)
                return true
            }
        } catch is LastImages.TooManyRows {
            return nil
        }
        return try CollectedImages(entity.id, position, scratch, images)
    }

    private init(
        _ entity: UInt32, _ position: Int64, _ scratch: ScratchTables, _ images: LastImages
    ) throws {
        self.entity = entity
        self.position = position
        self.scratch = scratch
        self.images = images
        rows = try Statement(scratch.database, images.select)
    }

    /// Copies rows where the last call stopped, until `isEnough` says so; the tombstones come with the last of them.
    ///
    /// - Returns: Whether everything has been copied.
    func copy(
        into table: String, tombstones: String, _ writer: LogWriter, until isEnough: (_ rows: Int) -> Bool
    ) throws -> Bool {
        if let rows {
            let insert = try TableCopy.insert(rows, into: table, list: images.list, writer.database)
            var count = 0
            while try rows.step() {
                try TableCopy.copy(rows, with: insert)
                count += 1
                if isEnough(count) { return false }
            }
            self.rows = nil
        }
        let list = "entity, key, position"
        let dead = try Statement(scratch.database, "SELECT \(list) FROM tombstone")
        let insert = try TableCopy.insert(dead, into: tombstones, list: list, writer.database)
        while try dead.step() { try TableCopy.copy(dead, with: insert) }
        return true
    }
}
