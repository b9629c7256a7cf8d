import Foundation
import StorageKit
import StorageTesting
import Testing

/// Commit times as dates, beside the exact microseconds of the log.
@Suite struct TimeTests {
    @StorageEntity
    struct Tide {
        var id: Int
        var metres: Double
    }

    /// Times with all six digits, whose dates are rounded.
    private static let start: Int64 = 1_790_000_000_123_457
    private static let step: Duration = .microseconds(1)

    private func store(_ clock: ManualClock, commits: Int) async throws -> (TemporaryStore, [CommitReceipt]) {
        let store = try TemporaryStore(config: StorageConfig(clock: clock)) { $0.autoSchema(TideRecord.self) }
        var receipts: [CommitReceipt] = []
        for id in 0..<commits {
            clock.advance(by: Self.step)
            receipts.append(try await store.storage.save(Tide(id: id, metres: 1)))
        }
        return (store, receipts)
    }

    @Test("The date of a commit is the point after it")
    func dateOfCommitAsPoint() async throws {
        let (store, receipts) = try await store(ManualClock(microseconds: Self.start), commits: 40)
        for (index, receipt) in receipts.enumerated() {
            #expect(receipt.time == Self.start + Int64(index) + 1)
            let then = try await store.storage.asOf(.time(receipt.date))
            #expect(then.position == receipt.position)
        }
    }

    @Test("A query takes dates and finds their commits")
    func queryByDates() async throws {
        let (store, receipts) = try await store(ManualClock(microseconds: Self.start), commits: 10)
        let query = LogQuery(tables: ["tides"], dates: receipts[3].date...receipts[6].date, descending: true)
        let events = try await store.storage.allEvents(query)
        #expect(events.map(\.position) == receipts[3...6].map(\.position).reversed())
        #expect(events.map(\.commit.date) == receipts[3...6].map(\.date).reversed())
        #expect(query.times == receipts[3].time...receipts[6].time)
        #expect(LogQuery().dates == nil)
    }

    @Test("Dates out of range are the first and the last time")
    func datesOutOfRange() {
        let query = LogQuery(dates: .distantPast...Date(timeIntervalSinceReferenceDate: 1e300))
        #expect(query.times.upperBound == .max)
        #expect(query.times.lowerBound < 0)
    }

    @Test("Times of caches are durations")
    func cacheTimesAreDurations() {
        #expect(TTL(.milliseconds(500)).seconds == 0.5)
        #expect(TTL(.seconds(-1)).duration == .zero)
        #expect(TTL(seconds: -.infinity).duration == .zero)
        #expect(TTL(seconds: .infinity).duration > .seconds(1e14))
        #expect(TTL(seconds: .nan).duration == .zero)
        let literal: TTL = 300
        #expect(literal == .minutes(5))
    }
}
