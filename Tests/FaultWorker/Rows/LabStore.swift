import Foundation
import StorageKit
import StorageProjections

/// How the laboratory opens its stores.
enum LabStore {
    /// With everything that is kept in step: a table, a full-text index, a projection that follows by itself.
    static func open(
        _ path: String, durability: StorageConfig.Durability = .full, sealsInBackground: Bool = true
    ) throws -> Storage {
        var configuration = StorageConfig()
        configuration.durability = durability
        configuration.sealsInBackground = sealsInBackground
        return try StorageKit.start(at: URL(fileURLWithPath: path), config: configuration) {
            $0.autoSchema(MarkRecord.self)
            $0.addFullTextSearch(table: "marks", columns: ["text"])
            $0.addProjection(MarkCounts(), mode: .async, batchSize: 50)
            // Of the operation "migrate": programs go on without it.
            $0.retire("marks are made again")
        }.facade
    }

    /// Rows of one write, which are named after it.
    static func marks(_ batch: String, _ rows: Int) -> [Mark] {
        (0..<rows).map { row in
            Mark(
                id: "\(batch)-\(row)", batch: batch, number: row,
                text: "\(batch) " + String(repeating: "word\(row) ", count: 5 + row * 7 % 40))
        }
    }
}
