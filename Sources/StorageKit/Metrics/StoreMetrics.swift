internal import CSQLite
internal import Foundation
internal import StorageLog
internal import StorageProjections

/// Numbers about a store's file.
package struct StoreMetrics: Sendable {
    private let head: LogHead
    private let unsealed: (rows: Int64, events: Int64, due: Int64)
    private let stored: Stored?
    private let fileBytes: Int64
    private let walBytes: Int64
    private let projections: [ProjectionStatus]

    /// Numbers that need a scan of all segments.
    fileprivate struct Stored {
        var segments: Int64 = 0
        var rawBytes: Int64 = 0
        var logBytes: Int64 = 0
    }

    /// - Parameters:
    ///   - path: The store's file; nil in memory.
    ///   - countsLog: Whether to count the log's segments and bytes too, which reads its pages. The rest costs a few look-ups.
    package init(_ history: HistoryReader, path: String?, countsLog: Bool) throws {
        head = history.head
        unsealed = try Self.unsealed(history)
        stored = try countsLog ? Stored(history) : nil
        fileBytes = path.map(Self.size) ?? 0
        walBytes = path.map { Self.size(of: $0 + "-wal") } ?? 0
        projections = try ProjectionOverview.load(history.connection, measuresBytes: false)
    }

    /// Returns the number of segments and events after the last sealed segment, and how many of these events are in full windows.
    private static func unsealed(_ history: HistoryReader) throws -> (rows: Int64, events: Int64, due: Int64) {
        let select = try PreparedStatement(
            history.connection, "SELECT position, last, sealed FROM storage_log ORDER BY position DESC")
        var (rows, first): (Int64, Int64?) = (0, nil)
        while try select.step(), select.integer(2) == 0 {
            rows += 1
            first = select.integer(0)
        }
        guard let first else { return (0, 0, 0) }
        let window = Int64(Limits.segmentEvents)
        let lastFull = history.head.position / window * window
        return (rows, history.head.position - first + 1, max(0, lastFull - first + 1))
    }

    private static func size(of path: String) -> Int64 {
        let attributes = try? FileManager.default.attributesOfItem(atPath: path)
        return (attributes?[.size] as? NSNumber)?.int64Value ?? 0
    }
}

extension StoreMetrics.Stored {
    fileprivate init(_ history: HistoryReader) throws {
        let log = try PreparedStatement(
            history.connection, "SELECT coalesce(sum(sealed != 0), 0), coalesce(sum(size), 0) FROM storage_log")
        if try log.step() { (segments, rawBytes) = (log.integer(0), log.integer(1)) }
        let pages = try PreparedStatement(
            history.connection,
            """
            SELECT coalesce(sum(pgsize), 0) FROM temp.dbstat
            WHERE name IN ('storage_log', 'storage_tombstone') AND aggregate = TRUE
            """)
        if try pages.step() { logBytes = pages.integer(0) }
    }
}

extension StoreMetrics {
    package func write(to text: inout PrometheusText) {
        text.add(
            "storagekit_events_total", as: .counter, head.position,
            help: "Events in the log; also the position of its head.")
        text.add(
            "storagekit_commits_total", as: .counter, head.commit,
            help: "Commits in the log; also the number of the last.")
        if head.commit > 0 {
            text.add(
                "storagekit_last_commit_timestamp_seconds", as: .gauge, Double(head.time) / 1_000_000,
                help: "Time of the last commit, in seconds since 1970.")
        }
        if let stored {
            text.add("storagekit_segments", as: .gauge, stored.segments, help: "Sealed segments.")
            text.add(
                "storagekit_log_bytes", as: .gauge, stored.logBytes,
                help: "Bytes of the log in the file, with tombstones.")
            text.add(
                "storagekit_log_raw_bytes", as: .gauge, stored.rawBytes,
                help: "Bytes of the log's events before compression.")
        }
        text.add("storagekit_file_bytes", as: .gauge, fileBytes, help: "Bytes of the store's file.")
        text.add("storagekit_wal_bytes", as: .gauge, walBytes, help: "Bytes of the write-ahead log beside it.")
        text.add(
            "storagekit_unsealed_segments", as: .gauge, unsealed.rows,
            help: "Segments of the log's tail, which aren't sealed.")
        text.add("storagekit_unsealed_events", as: .gauge, unsealed.events, help: "Events in the log's tail.")
        text.add(
            "storagekit_sealing_debt_events", as: .gauge, unsealed.due,
            help:
                "Events of full windows that aren't sealed yet: what is left of it while nothing is written isn't being worked on."
        )
        writeProjections(to: &text)
    }

    private func writeProjections(to text: inout PrometheusText) {
        func add(
            _ name: String, help: String, _ value: (ProjectionStatus) -> Int64
        ) {
            let samples = projections.map { projection in
                (
                    labels: [(name: "projection", value: projection.name), (name: "kind", value: projection.kind)],
                    value: value(projection)
                )
            }
            text.add(name, as: .gauge, samples, help: help)
        }
        add("storagekit_projection_lag_events", help: "Positions that a projection is behind the head.") { $0.lag }
        add(
            "storagekit_projection_running",
            help: "1 where a projection follows the log, 0 where it is paused, failed or reset."
        ) {
            $0.state == .running ? 1 : 0
        }
        add("storagekit_dead_letters", help: "Events that a projection has put aside.") { Int64($0.deadLetters) }
    }
}
