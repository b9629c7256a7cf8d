import StorageKit
import Synchronization
import TestSupport
import Testing

/// Follows a random query, and keeps what it was shown.
protocol DifferenceReading: Sendable {
    /// The positions of what was shown.
    var positions: Set<Int64> { get }
    /// What is wrong with what was shown at a position.
    func fault(at position: Int64, _ library: LibraryRows) -> String?
    /// What is wrong if it doesn't come to show what the query finds in a state.
    func fault(inTheEnd library: LibraryRows) async throws -> String?
}

/// A reader of differences that is slow at times, and at times goes away and continues where it was.
///
/// Isolation: `Sendable`, its state behind a mutex.
final class DifferenceReader<Entity: LibraryEntity>: DifferenceReading {
    fileprivate struct Shown {
        var rows: [Entity] = []
        var position: Int64?
        var all: [Int64: [Entity]] = [:]
        var unfitting: String?
    }

    private let storage: Storage
    private let random: RandomQuery<Entity>
    private let shown = Mutex(Shown())
    private let reading = Mutex<Task<Void, any Error>?>(nil)

    init(_ storage: Storage, seed: UInt64) {
        self.storage = storage
        var generator = SplitMix64(seed: seed)
        random = RandomQuery(&generator)
        reading.withLock { task in task = Task { [generator, weak self] in try await self?.read(generator) } }
    }

    deinit { reading.withLock { $0?.cancel() } }

    private func read(_ generator: SplitMix64) async throws {
        var generator = generator
        var query = storage.query(Entity.self)
        query.request = random.request
        let live = query.live()
        while !Task.isCancelled {
            let position = shown.withLock { $0.position }
            let differences = position.map { live.differences(since: $0) } ?? live.differences
            var rest = generator.chance(50) ? 1 + generator.below(6) : Int.max
            for try await difference in differences {
                shown.withLock { $0.apply(difference) }
                if generator.chance(20) { try await Task.sleep(for: .milliseconds(generator.below(4))) }
                rest -= 1
                if rest == 0 { break }
            }
        }
    }

    var positions: Set<Int64> { shown.withLock { Set($0.all.keys) } }

    func fault(at position: Int64, _ library: LibraryRows) -> String? {
        shown.withLock { shown in
            if let unfitting = shown.unfitting { return "\(random.text): \(unfitting)" }
            guard let rows = shown.all[position] else { return nil }
            let expected = random.find(in: library)
            return rows == expected ? nil : "\(random.text): \(rows) instead of \(expected) at \(position)"
        }
    }

    func fault(inTheEnd library: LibraryRows) async throws -> String? {
        let expected = random.find(in: library)
        let end = ContinuousClock.now + .seconds(120)
        while true {
            let rows = shown.withLock { $0.rows }
            if rows == expected { return nil }
            guard ContinuousClock.now < end else { return "\(random.text): \(rows) instead of \(expected) in the end" }
            try await Task.sleep(for: .milliseconds(1))
        }
    }
}

extension DifferenceReader.Shown {
    fileprivate mutating func apply(_ difference: ListDifference<Entity>) {
        if !difference.fits(rows) || difference.position < position ?? 0 {
            unfitting = "\(difference) doesn't fit \(rows) of \(position ?? 0)"
        }
        guard unfitting == nil else { return }
        difference.apply(to: &rows)
        position = difference.position
        all[difference.position] = rows
    }
}
