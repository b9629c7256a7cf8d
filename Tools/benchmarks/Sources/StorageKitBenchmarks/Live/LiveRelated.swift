import GRDB
import StorageKit

/// Lists of owners with their latest children, followed by many readers, while children are written.
enum LiveRelated {
    @StorageEntity(table: "shelves")
    struct Shelf {
        var id: Int
        var room: Int
        @StorageHasMany(foreignKey: "shelfId") var boxes: [Box] = []
    }

    @StorageEntity(table: "boxes")
    struct Box {
        var id: Int
        var shelfId: Int
        var weight: Int
    }

    static let shelvesOfARoom = 20
    static let boxesOfAShelf = 10
    /// One commit may take so long; a contender ends behind it.
    private static let limitSeconds = 60.0
    private static let patienceSeconds = 900.0

    /// - Parameters:
    ///   - views: How many rooms are followed, one reader each, of `rooms` rooms.
    static func contenders(views: Int, rooms: Int, commits: Int, isPeer: Bool) -> [Contender] {
        let storageKit = Contender(
            name(ContenderName.storageKit, views),
            prepare: { try await openStorageKit($0, rooms: rooms) },
            run: { (storage: Storage) in
                try await measure(views, commits, isEveryoneTold: false) { room, sightings in
                    let live = storage.query(Shelf.self).where { $0.room == room }.orderBy(\.id)
                        .include(\.boxes) { $0.orderBy(\.weight, .descending) }.live()
                    for try await shelves in live.snapshots {
                        sightings.saw(room, heaviest: shelves.reduce(0) { max($0, $1.boxes.first?.weight ?? 0) })
                    }
                } write: { id, shelf, weight in
                    _ = try await storage.save(Box(id: id, shelfId: shelf, weight: weight))
                }
            }, cleanup: { try await $0.close() })
        guard isPeer else { return [storageKit] }
        return [
            GRDBRelated.contender(
                name(ContenderName.constantRegion, views), views: views, rooms: rooms, commits: commits), storageKit,
        ]
    }

    static func name(_ contender: String, _ views: Int) -> String {
        "\(contender), \(Format.count(views)) view\(views == 1 ? "" : "s")"
    }

    /// Commits one after another, each to the shelf of a room that is followed, and waits until its reader has it.
    ///
    /// - Parameters:
    ///   - isEveryoneTold: Whether all readers are waited for, because each fetches again at each commit.
    ///   - follow: Follows a room until it is cancelled.
    static func measure(
        _ views: Int, _ commits: Int, isEveryoneTold: Bool,
        follow: @escaping @Sendable (_ room: Int, LiveSightings) async throws -> Void,
        write: (_ box: Int, _ shelf: Int, _ weight: Int) async throws -> Void
    ) async throws -> [Metric] {
        let sightings = LiveSightings(readers: views)
        let before = ResidentMemory.restartPeak() ?? 0
        let opening = ContinuousClock.now
        let readers = (0..<views).map { room in Task { try await follow(room, sightings) } }
        let patience = Task {
            try await Task.sleep(for: .seconds(patienceSeconds))
            sightings.giveUp()
        }
        defer {
            for reader in readers { reader.cancel() }
            patience.cancel()
        }
        try await sightings.arrival()
        let opened = ContinuousClock.now - opening
        let memory = ((ResidentMemory.peak() ?? before) - before) / 1_024 / Double(views)
        var run = Run(views: views, isEveryoneTold: isEveryoneTold, sightings: sightings)
        // The first one finds what isn't there yet, such as prepared statements.
        try await run.commit(0, write)
        run = Run(views: views, isEveryoneTold: isEveryoneTold, sightings: sightings)
        let watch = await MainThreadWatch()
        let delivered = sightings.deliveredCount
        let cpu = ProcessTime.cpuSeconds()
        let start = ContinuousClock.now
        for number in 1...commits {
            try await run.commit(number, write)
            if ContinuousClock.now - start > .seconds(limitSeconds) { break }
        }
        let spent = (ProcessTime.cpuSeconds() - cpu) * 1_000
        let stay = await watch.stop()
        return run.metrics(cpuMilliseconds: spent, delivered: sightings.deliveredCount - delivered) + stay + [
            Metric(name: "ms of opening a view", value: opened / .milliseconds(1) / Double(views)),
            Metric(name: "KB a view at the peak of opening", value: memory),
        ]
    }

    /// Commits, and what was seen of them.
    private struct Run {
        let views: Int
        let isEveryoneTold: Bool
        let sightings: LiveSightings
        var committed: [Duration] = []
        var first: [Duration] = []
        var shown: [Duration] = []
        var all: [Duration] = []

        mutating func commit(
            _ number: Int, _ write: (_ box: Int, _ shelf: Int, _ weight: Int) async throws -> Void
        ) async throws {
            let room = number * 7 % views
            let shelf = room * shelvesOfARoom + number % shelvesOfARoom
            let weight = 1_000 + number
            sightings.expect(weight: weight, of: room, isEveryoneTold: isEveryoneTold)
            let start = ContinuousClock.now
            try await write(shelf * boxesOfAShelf, shelf, weight)
            committed.append(ContinuousClock.now - start)
            let times = try await sightings.arrival()
            first.append(times.first - start)
            shown.append(times.shown - start)
            all.append(times.all - start)
        }

        func metrics(cpuMilliseconds: Double, delivered: Int) -> [Metric] {
            [
                ("of it commit ms, p50", committed), ("first notified ms, p50", first), (shownMetric, shown),
                (allMetric, all),
            ].map { name, times in Metric(name: name, value: times.microseconds(percentile: 50) / 1_000) } + [
                Metric(name: cpuMetric, value: cpuMilliseconds / Double(all.count)),
                Metric(name: "values delivered a commit", value: Double(delivered) / Double(all.count)),
                Metric(name: "commits", value: Double(all.count)),
            ]
        }
    }

    static let shownMetric = "shown by its reader ms, p50"
    static let allMetric = "all notified ms, p50"
    static let cpuMetric = "CPU ms a commit"
}
