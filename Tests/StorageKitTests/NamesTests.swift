import Foundation
import StorageKit
import TestSupport
import Testing

/// A file that imports Foundation and StorageKit: the names of Swift, Foundation and GRDB mean what they mean without it, and the
/// name of the module is free to qualify with.
@Suite struct NamesTests {
    @StorageEntity
    struct Pebble {
        var id: Int
        var weight: Double
    }

    @Test("Names of Swift and Foundation stay available")
    func swiftNamesStayAvailable() throws {
        let clock: any Clock<Duration> = ContinuousClock()
        #expect(clock.minimumResolution >= .zero)
        let order = SortOrder.forward
        #expect(order != .reverse)
        let isLarge: Predicate<Int> = #Predicate { $0 > 3 }
        #expect(try isLarge.evaluate(4))
        #expect(try !isLarge.evaluate(3))
    }

    @Test("The module's name qualifies its declarations")
    func moduleNameQualifies() async throws {
        let context: StorageKit.Context = try StorageKit.inMemory { $0.autoSchema(PebbleRecord.self) }
        let storage: StorageKit.Storage = context.facade
        try await storage.save(Pebble(id: 1, weight: 2.5))
        let query: StorageKit.Query<Pebble> = storage.query(Pebble.self)
        let heavy = query.where(StorageKit.Column<Double>("weight") > 2)
        #expect(try await heavy.count() == 1)
    }

    @Test("The functions of the module need no qualification")
    func unqualifiedFunctions() throws {
        let folder = try TemporaryFolder()
        let url = URL(fileURLWithPath: folder.path("pebbles.sqlite"))
        #expect(try plan(at: url) { $0.autoSchema(PebbleRecord.self) }.steps.count == 1)
        let facade = try start(at: url) { $0.autoSchema(PebbleRecord.self) }.facade
        #expect(facade.head > 0)
    }
}
