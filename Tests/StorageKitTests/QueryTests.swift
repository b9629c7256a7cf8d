import Foundation
import GRDB
import StorageCore
import StorageEntities
import StorageKit
import StorageMaintenance
import StorageTesting
import TestSupport
import Testing

/// A row with a column of every stored type, and its optional.
@StorageEntity(table: "samples")
struct Sample: Equatable {
    var id: Int
    var text: String
    var number: Int
    var real: Double
    var flag: Bool
    var date: Date
    var data: Data
    var uuid: UUID
    var url: URL
    var kind: Kind
    var maybeText: String?
    var maybeNumber: Int?
    var maybeReal: Double?
    var maybeFlag: Bool?
    var maybeDate: Date?
    var maybeData: Data?
    var maybeUUID: UUID?
    var maybeKind: Kind?

    enum Kind: String, Codable, CaseIterable { case one, two }

    static func random(_ id: Int, using random: inout SplitMix64) -> Sample {
        func maybe<Value>(_ value: Value) -> Value? { random.chance(25) ? nil : value }
        let texts = ["", "a", "A", "abc", "100%", "a_b", "é", "É", "\\", "'; DROP TABLE samples; --", "ab%c_"]
        return Sample(
            id: id, text: random.pick(texts), number: random.pick([Int.min, -1, 0, 1, 5, 18, Int.max]),
            real: random.pick([-0.0, 0, 1.5, -1e300, .infinity, 5]), flag: random.chance(50),
            date: Date(timeIntervalSinceReferenceDate: Double(random.below(11) - 5) / 4),
            data: Data(random.pick([[], [0], [1, 2], [255]] as [[UInt8]])), uuid: random.pick(uuids),
            url: URL(string: "https://example.com/\(random.below(3))")!, kind: random.pick(Kind.allCases),
            maybeText: maybe(random.pick(texts)), maybeNumber: maybe(random.below(5) - 2),
            maybeReal: maybe(random.pick([0, -0.0, 2.5])), maybeFlag: maybe(random.chance(50)),
            maybeDate: maybe(Date(timeIntervalSinceReferenceDate: 1)), maybeData: maybe(Data([7])),
            maybeUUID: maybe(random.pick(uuids)), maybeKind: maybe(random.pick(Kind.allCases)))
    }

    static let uuids = (0..<3).map { _ in UUID() }
}

/// Queries answer what Swift would answer over all rows.
@Suite struct QueryTests {
    private static let seed = testSeeds(1)[0]

    private func open(_ count: Int = 60) async throws -> (Storage, [Sample]) {
        let storage = try StorageKit.inMemory { $0.autoSchema(SampleRecord.self) }.facade
        var random = SplitMix64(seed: Self.seed)
        let samples = (0..<count).map { Sample.random($0, using: &random) }
        try await storage.save(samples)
        return (storage, samples)
    }

    private func expect(
        _ storage: Storage, _ samples: [Sample], _ name: String,
        _ condition: @escaping (ColumnRef<Sample>) -> RowPredicate,
        _ holds: (Sample) -> Bool, location: SourceLocation = #_sourceLocation
    ) async throws {
        let found = try await storage.query(Sample.self).where(condition).fetch()
        #expect(found == samples.filter(holds), "\(name), seed \(Self.seed)", sourceLocation: location)
        #expect(try await storage.query(Sample.self).where(condition).count() == found.count, sourceLocation: location)
    }

    @Test("Every operator works on every type")
    func everyOperatorOnEveryType() async throws {
        let (storage, all) = try await open()
        let (uuid, date, url) = (
            Sample.uuids[0], Date(timeIntervalSinceReferenceDate: 0.25), URL(string: "https://example.com/1")!
        )
        try await expect(storage, all, "text ==", { $0.text == "a" }, { $0.text == "a" })
        try await expect(storage, all, "text !=", { $0.text != "a" }, { $0.text != "a" })
        try await expect(
            storage, all, "number", { $0.number >= 1 && $0.number < 18 }, { $0.number >= 1 && $0.number < 18 })
        try await expect(
            storage, all, "number <= or >", { $0.number <= -1 || $0.number > 5 }, { $0.number <= -1 || $0.number > 5 })
        try await expect(storage, all, "real", { $0.real == 0.0 }, { $0.real == 0.0 })
        try await expect(storage, all, "real >", { $0.real > 1 }, { $0.real > 1 })
        try await expect(storage, all, "flag", { $0.flag == true }, \.flag)
        try await expect(storage, all, "date", { $0.date > date }, { $0.date > date })
        try await expect(storage, all, "data", { $0.data == Data([1, 2]) }, { $0.data == Data([1, 2]) })
        try await expect(storage, all, "uuid", { $0.uuid == uuid }, { $0.uuid == uuid })
        try await expect(storage, all, "url", { $0.url != url }, { $0.url != url })
        try await expect(storage, all, "kind", { $0.kind == .one }, { $0.kind == .one })
        try await expect(storage, all, "kind in", { $0.kind.in([.two]) }, { $0.kind == .two })
        try await expect(storage, all, "in", { $0.number.in([0, 5]) }, { [0, 5].contains($0.number) })
        try await expect(storage, all, "in nothing", { $0.number.in([]) }, { _ in false })
        try await expect(storage, all, "between", { $0.number.between(-1...5) }, { (-1...5).contains($0.number) })
        try await expect(
            storage, all, "not", { !($0.number < 5 || $0.flag == false) }, { !($0.number < 5 || !$0.flag) })
        try await expect(storage, all, "maybe ==", { $0.maybeText == "a" }, { $0.maybeText == "a" })
        try await expect(storage, all, "maybe !=", { $0.maybeText != "a" }, { $0.maybeText != "a" })
        try await expect(storage, all, "not maybe ==", { !($0.maybeNumber == 1) }, { !($0.maybeNumber == 1) })
        try await expect(storage, all, "nil", { $0.maybeText == nil }, { $0.maybeText == nil })
        try await expect(storage, all, "not nil", { $0.maybeReal != nil }, { $0.maybeReal != nil })
        try await expect(storage, all, "isNull", { $0.maybeFlag.isNull }, { $0.maybeFlag == nil })
        try await expect(storage, all, "isNotNull", { $0.maybeData.isNotNull }, { $0.maybeData != nil })
        try await expect(storage, all, "maybe >", { $0.maybeNumber > 0 }, { ($0.maybeNumber ?? 0) > 0 })
        try await expect(storage, all, "maybe kind", { $0.maybeKind != .two }, { $0.maybeKind != .two })
        try await expect(storage, all, "maybe uuid", { $0.maybeUUID == uuid }, { $0.maybeUUID == uuid })
        try await expect(
            storage, all, "maybe date", { $0.maybeDate >= date }, { $0.maybeDate.map { $0 >= date } ?? false })
        try await expect(storage, all, "columns", { $0.text == $0.text && $0.number != $0.id }, { $0.number != $0.id })
        try await expect(
            storage, all, "collation", { $0.text.collating(.noCase) == "a" }, { ["a", "A"].contains($0.text) })
    }

    @Test("Lists and collations treat nil as Swift does, also when negated")
    func nilInListsAndCollations() async throws {
        let (storage, all) = try await open()
        for list: [Int?] in [[], [nil], [1], [nil, 1], [1, 2]] {
            try await expect(storage, all, "in", { $0.maybeNumber.in(list) }, { list.contains($0.maybeNumber) })
            try await expect(storage, all, "not in", { !$0.maybeNumber.in(list) }, { !list.contains($0.maybeNumber) })
        }
        for list: [Sample.Kind?] in [[], [nil], [.one], [nil, .two]] {
            try await expect(storage, all, "in", { $0.maybeKind.in(list) }, { list.contains($0.maybeKind) })
            try await expect(storage, all, "not in", { !$0.maybeKind.in(list) }, { !list.contains($0.maybeKind) })
        }
        for text in ["A", nil] {
            try await expect(
                storage, all, "collation", { $0.maybeText.collating(.noCase) == text },
                { $0.maybeText?.lowercased() == text?.lowercased() })
            try await expect(
                storage, all, "not collation", { !($0.maybeText.collating(.noCase) == text) },
                { $0.maybeText?.lowercased() != text?.lowercased() })
        }
    }

    @Test("A required and an optional column can be compared")
    func requiredAndOptionalColumns() async throws {
        let (storage, all) = try await open()
        try await expect(storage, all, "==", { $0.number == $0.maybeNumber }, { $0.number == $0.maybeNumber })
        try await expect(storage, all, "!=", { $0.maybeNumber != $0.number }, { $0.number != $0.maybeNumber })
        try await expect(storage, all, "reversed ==", { $0.maybeText == $0.text }, { $0.text == $0.maybeText })
        try await expect(storage, all, "reversed !=", { $0.text != $0.maybeText }, { $0.text != $0.maybeText })
    }

    @Test("A required and an optional column are compared in order, and NULL is neither less nor greater")
    func orderOfRequiredAndOptionalColumns() async throws {
        let (storage, all) = try await open()
        func compare(
            _ name: String, _ condition: @escaping (ColumnRef<Sample>) -> RowPredicate, _ holds: (Int, Int) -> Bool
        ) async throws {
            try await expect(storage, all, name, condition) { sample in
                sample.maybeNumber.map { holds(sample.number, $0) } ?? false
            }
        }
        try await compare("<", { $0.number < $0.maybeNumber }, <)
        try await compare("<=", { $0.number <= $0.maybeNumber }, <=)
        try await compare(">", { $0.number > $0.maybeNumber }, >)
        try await compare(">=", { $0.number >= $0.maybeNumber }, >=)
        try await compare("reversed <", { $0.maybeNumber < $0.number }, >)
        try await compare("reversed <=", { $0.maybeNumber <= $0.number }, >=)
        try await compare("reversed >", { $0.maybeNumber > $0.number }, <)
        try await compare("reversed >=", { $0.maybeNumber >= $0.number }, <=)
    }

    @Test("Optional raw values are assigned, and rows with a raw value deleted")
    func optionalRawValues() async throws {
        let (storage, all) = try await open()
        let query = storage.query(Sample.self)
        let count = try await storage.deleteAll(Sample.self, where: \.kind, equals: .two)
        #expect(count == all.filter { $0.kind == .two }.count)
        try await query.updateAll { $0.maybeKind.set(to: .two) }
        #expect(try await query.fetch().allSatisfy { $0.maybeKind == .two })
        try await query.where { $0.id < 30 }.updateAll { $0.maybeKind.set(to: nil) }
        #expect(try await query.where { $0.maybeKind == nil }.fetch() == query.where { $0.id < 30 }.fetch())
        try await storage.deleteAll(Sample.self, where: \.maybeKind, equals: nil)
        #expect(try await query.where { $0.maybeKind != .two }.count() == 0)
    }

    @MainActor private final class Model {
        var text = "model"
    }

    private actor Holder {
        let text = "holder"

        func update(_ storage: Storage) async throws {
            try await storage.query(Sample.self).updateAll { $0.text.set(to: text) }
        }
    }

    @Test("Assignments and conditions read the state of the actor that makes the call")
    @MainActor
    func updateFromActors() async throws {
        let (storage, all) = try await open()
        let model = Model()
        let query = storage.query(Sample.self)
        try await query.updateAll { $0.text.set(to: model.text) }
        #expect(try await query.where { $0.text == "model" }.count() == all.count)
        try await Holder().update(storage)
        #expect(try await query.where { $0.text == "holder" }.count() == all.count)
    }

    @Test("Wildcards and quotes in texts are literal")
    func wildcardsAreLiteral() async throws {
        let (storage, all) = try await open(200)
        for text in ["%", "_", "\\", "a_b", "100%", "'", "é", "b%c"] {
            try await expect(storage, all, text, { $0.text.contains(text) }, { $0.text.contains(text) })
            try await expect(storage, all, text, { $0.text.hasPrefix(text) }, { $0.text.hasPrefix(text) })
            try await expect(
                storage, all, text, { $0.maybeText.hasSuffix(text) }, { $0.maybeText?.hasSuffix(text) ?? false })
        }
        // A to Z are found in both cases, other letters in their own.
        try await expect(storage, all, "case", { $0.text.contains("B") }, { $0.text.lowercased().contains("b") })
        try await expect(storage, all, "É", { $0.text.contains("É") }, { $0.text.contains("É") })
        try await expect(storage, all, "like", { $0.text.like("a%b_c%", escape: "\\") }, { $0.text == "ab%c_" })
    }

    @Test("Conditions beyond SQLite's limits are refused with their remedy")
    func limitsOfConditions() async throws {
        let storage = try StorageKit.inMemory { $0.autoSchema(SampleRecord.self) }.facade
        let many = await #expect(throws: StorageError.self) {
            try await storage.query(Sample.self).where { $0.number.in(0..<600_000) }.fetch()
        }
        #expect(many?.code == .limitExceeded)
        #expect(many?.remedy.contains("fewer values") == true)
        var nested = RowPredicate.isNull(column: "number")
        for level in 0..<1_000 {
            let other = RowPredicate.isNull(column: "text")
            nested = level % 2 == 0 ? nested && other : nested || other
        }
        let query = storage.query(Sample.self).where(nested)
        let deep = await #expect(throws: StorageError.self) { try await query.fetch() }
        #expect(deep?.code == .limitExceeded)
        await #expect(throws: StorageError.self) { for try await _ in query.live().snapshots {} }
    }

    @Test("Deep conditions of SQL of one's own are a limit too")
    func depthOfCustomSQL() async throws {
        let storage = try StorageKit.inMemory { $0.autoSchema(SampleRecord.self) }.facade
        let sql = String(repeating: "(1 + ", count: 2_000) + "1" + String(repeating: ")", count: 2_000)
        let error = await #expect(throws: StorageError.self) {
            try await storage.query(Sample.self).where(.sql(sql)).fetch()
        }
        #expect(error?.code == .limitExceeded)
    }

    @Test("Order, limit and offset")
    func orderLimitAndOffset() async throws {
        let (storage, all) = try await open()
        let query = storage.query(Sample.self)
        let byNumber = all.sorted { ($0.number, $1.id) < ($1.number, $0.id) }
        #expect(try await query.orderBy(\.number).orderBy("id", .descending).fetch() == byNumber)
        #expect(try await query.orderBy("number", .descending).limit(3).fetch().count == 3)
        let paged = try await query.orderBy(\.number).limit(10).offset(5).fetch()
        #expect(paged == Array(try await query.orderBy(\.number).fetch()[5..<15]))
        #expect(try await query.limit(10).offset(55).count() == 5)
        #expect(try await query.where { $0.flag == true }.fetchOne()?.id == all.first(where: \.flag)?.id)
        #expect(try await query.limit(0).fetch().isEmpty)
        #expect(try await query.where { $0.id == -1 }.exists() == false)
        #expect(try await query.offset(58).fetch().map(\.id) == [58, 59])
        await #expect(throws: StorageError.self) { try await query.limit(-1).fetch() }
        await #expect(throws: StorageError.self) { try await query.offset(-1).count() }
    }

    @Test("Names are checked and never pasted into SQL")
    func namesAreChecked() async throws {
        let (storage, _) = try await open(3)
        for name in ["nope", "id\" OR 1=1 --", "", "text; DROP TABLE samples"] {
            let error = await #expect(throws: StorageError.self) {
                try await storage.query(Sample.self).orderBy(name).fetch()
            }
            #expect(error?.code == .invalidName)
            await #expect(throws: StorageError.self) {
                try await storage.query(Sample.self).where { _ in Column<Int>(name) == 1 }.fetch()
            }
        }
        #expect(
            try await storage.query(Sample.self).where { _ in .sql("length(text) >= ? AND id < ?", 0, 2) }.count() == 2)
        await #expect(throws: StorageError.self) {
            try await storage.query(Sample.self).where { _ in .sql("id = ?", []) }.count()
        }
    }

    @Test("Raw SQL conditions stay within their parentheses")
    func rawConditionsAreContained() async throws {
        let (storage, samples) = try await open()
        for wrong in [
            "1 -- )", "1 /* */", "1; DELETE FROM samples", "id = ?1", "id = :id", "id = @id", "id = $id", "1) OR (1",
            "(1", "",
            "  ", "text = 'a", "text = \"a", "[id = 1", "1\0", "id = ? AND id = ?",
        ] {
            let error = await #expect(throws: StorageError.self, "\(wrong)") {
                try await storage.query(Sample.self).where { _ in .sql(wrong, 1) }.count()
            }
            #expect(error?.code == .invalidQuery, "\(wrong)")
        }
        #expect(
            try await storage.query(Sample.self).where { _ in .sql("1 OR 1") }.where { _ in .sql("0") }.count() == 0)
        let quoted = storage.query(Sample.self).where { _ in .sql("'--;?1:(' <> \"text\" AND id = id AND [id] = `id`") }
        #expect(try await quoted.count() == samples.count)
    }

    /// SQLite's LIKE ends a pattern at NUL, so that the rest would match everything.
    @Test("No row has a text with NUL, so none is found or deleted by one")
    func soughtNUL() async throws {
        let (storage, all) = try await open()
        try await expect(storage, all, "contains", { $0.text.contains("\0") }, { _ in false })
        try await expect(storage, all, "hasPrefix", { $0.text.hasPrefix("a\0") }, { _ in false })
        try await expect(storage, all, "hasSuffix", { $0.maybeText.hasSuffix("\0") }, { _ in false })
        try await expect(storage, all, "like", { $0.text.like("%\0") }, { _ in false })
        try await expect(storage, all, "not contains", { !$0.maybeText.contains("\0") }, { $0.maybeText != nil })
        #expect(try await storage.query(Sample.self).where { $0.text.contains("\0") }.deleteAll() == 0)
        #expect(try await storage.count(Sample.self) == all.count)
    }

    @Test("Pages by key survive inserts and deletes")
    func pagesByKey() async throws {
        for (first, second) in [
            (RowOrder.ascending, RowOrder.ascending), (.descending, .ascending), (.ascending, .descending),
        ] {
            let (storage, all) = try await open(97)
            var random = SplitMix64(seed: Self.seed)
            let query = storage.query(Sample.self).orderBy(\.maybeNumber, first).orderBy(\.text, second)
            let whole = try await query.fetch()
            var seen: [Sample] = []
            var cursor: PageCursor?
            var round = 0
            repeat {
                let page = try await query.page(after: cursor, size: 7)
                #expect(page.items.count <= 7)
                #expect((page.hasMore || page.next == nil))
                seen += page.items
                // The text of a cursor is as good as itself.
                cursor = try page.next.map { try PageCursor(text: $0.text) }
                round += 1
                // Rows before the cursor come and go without moving the pages behind it.
                if let gone = seen.randomElement(using: &random), round % 3 == 0, gone.id != seen.last?.id {
                    try await storage.delete(Sample.self, id: gone.id)
                    try await storage.save(gone)
                }
            } while cursor != nil
            #expect(seen.map(\.id) == whole.map(\.id), "seed \(Self.seed)")
            #expect(Set(seen.map(\.id)).count == all.count)
        }
        let (storage, _) = try await open(5)
        let page = try await storage.query(Sample.self).orderBy(\.text).page(size: 2)
        let error = await #expect(throws: StorageError.self) {
            try await storage.query(Sample.self).orderBy(\.number).page(after: page.next, size: 2)
        }
        #expect(error?.code == .invalidArgument)
        for text in ["", "x", "e30", page.next!.text + "x"] {
            #expect(throws: StorageError.self) { try PageCursor(text: text) }
        }
        await #expect(throws: StorageError.self) { try await storage.query(Sample.self).page(size: 0) }
    }

    @StorageEntity struct Word: Equatable { var id: String }

    /// Swift takes a letter and a mark behind it for one character.
    @Test("The text of a cursor is as good as itself, whatever a row's text begins with")
    func cursorsOfAnyText() async throws {
        let storage = try StorageKit.inMemory { $0.autoSchema(WordRecord.self) }.facade
        let words = ["\u{301}x", "\u{FE0F}", "\u{200D}", "\u{1F3FB}", "\r\n", "n\u{308}", "a"].map { Word(id: $0) }
        try await storage.save(words)
        let query = storage.query(Word.self).orderBy(\.id)
        var seen: [Word] = []
        var cursor: PageCursor?
        repeat {
            let page = try await query.page(after: cursor, size: 1)
            seen += page.items
            cursor = try page.next.map { try PageCursor(text: $0.text) }
        } while cursor != nil
        #expect(try await seen == query.fetch())
        #expect(seen.count == words.count)
    }

    /// The order takes both spellings for one, and a page that ends between them loses neither.
    @Test("Pages by a key under another collation have every row")
    func pagesUnderAnotherCollation() async throws {
        let storage = try StorageKit.inMemory { $0.autoSchema(WordRecord.self) }.facade
        try await storage.save(["a", "A", "b"].map(Word.init))
        let query = storage.query(Word.self).orderBy(\.id, collation: .noCase)
        let first = try await query.page(size: 1)
        let rest = try await query.page(after: first.next, size: 2)
        #expect((first.items + rest.items).map(\.id) == ["A", "a", "b"])
    }

    @Test("Pages behind an offset have every row, and a limit has no pages")
    func pagesBehindOffset() async throws {
        let (storage, _) = try await open(20)
        let query = storage.query(Sample.self).orderBy(\.id).offset(3)
        var pages: [[Int]] = []
        var cursor: PageCursor?
        repeat {
            let page = try await query.page(after: cursor, size: 5)
            pages.append(page.items.map(\.id))
            cursor = page.next
        } while cursor != nil
        #expect(pages == [Array(3...7), Array(8...12), Array(13...17), [18, 19]])
        let inside = try await storage.readTransaction { tx in
            let first = try tx.query(Sample.self).orderBy(\.id).offset(3).page(size: 5)
            return try tx.query(Sample.self).orderBy(\.id).offset(3).page(after: first.next, size: 2).items.map(\.id)
        }
        #expect(inside == [8, 9])
        #expect(try await storage.query(Sample.self).offset(20).page(size: 5).items.isEmpty)
        let error = await #expect(throws: StorageError.self) { try await query.limit(10).page(size: 50) }
        #expect(error?.code == .invalidArgument)
    }

    @Test("Updates change the matching rows and nothing else")
    func updatingMatches() async throws {
        let (storage, all) = try await open()
        let head = storage.head
        let count = try await storage.query(Sample.self).where { $0.flag == true || $0.number > 5 }.updateAll {
            $0.maybeText.set(to: nil)
            $0.kind.set(to: .two)
        }
        let hit = all.filter { $0.flag || $0.number > 5 }
        let changed = hit.filter { $0.maybeText != nil || $0.kind != .two }
        #expect(count == changed.count)
        #expect(storage.head == head + Int64(changed.count))
        #expect(
            try await storage.query(Sample.self).where { $0.kind == .two && $0.maybeText == nil }.count() >= hit.count)
        // Again, there is nothing to change.
        let again = try await storage.query(Sample.self).where { $0.flag == true || $0.number > 5 }.updateAll {
            $0.maybeText.set(to: nil)
            $0.kind.set(to: .two)
        }
        #expect(again == 0)
        #expect(storage.head == head + Int64(changed.count))
        // 0.0 is not -0.0.
        _ = try await storage.query(Sample.self).updateAll { $0.real.set(to: 0) }
        #expect(try await storage.query(Sample.self).updateAll { $0.real.set(to: -0.0) } == all.count)
        #expect(try await storage.all(Sample.self).allSatisfy { $0.real.sign == .minus })
        await #expect(throws: StorageError.self) { try await storage.query(Sample.self).updateAll { $0.id.set(to: 1) } }
        #expect(try await storage.verify().isSound)
    }

    @Test("Deletes work with limits")
    func deletingMatches() async throws {
        let (storage, all) = try await open()
        #expect(try await storage.query(Sample.self).orderBy(\.id, .descending).limit(10).deleteAll() == 10)
        #expect(try await storage.all(Sample.self) == Array(all.prefix(50)))
        #expect(try await storage.query(Sample.self).where { $0.id < 20 }.deleteAll() == 20)
        let history = try await storage.history(Sample.self, id: 3)
        #expect(history.map(\.operation) == [.insert, .delete])
        #expect(try await storage.query(Sample.self).deleteAll() == 30)
    }

    @Test("Aggregates equal those of the rows")
    func aggregates() async throws {
        let (storage, all) = try await open()
        let query = storage.query(Sample.self).where { $0.number > -2 && $0.number < 100 }
        let hit = all.filter { $0.number > -2 && $0.number < 100 }
        #expect(try await query.sum(\.number) == hit.map(\.number).reduce(0, +))
        #expect(try await query.sum(\.maybeNumber) == hit.compactMap(\.maybeNumber).reduce(0, +))
        let mean = try #require(try await query.average(\.number))
        #expect(abs(mean - Double(hit.map(\.number).reduce(0, +)) / Double(hit.count)) < 1e-9)
        #expect(try await query.min(\.number) == hit.map(\.number).min())
        #expect(try await query.max(\.date) == hit.map(\.date).max())
        #expect(try await query.count(distinct: \.text) == Set(hit.map(\.text)).count)
        let none = storage.query(Sample.self).where { $0.id < 0 }
        #expect(try await none.sum(\.number) == 0)
        #expect(try await none.average(\.real) == nil)
        #expect(try await none.max(\.text) == nil)
        var random = SplitMix64(seed: Self.seed)
        try await storage.save(
            (100..<103).map { id in
                var sample = Sample.random(id, using: &random)
                sample.number = .max
                return sample
            })
        let overflow = await #expect(throws: StorageError.self) {
            try await storage.query(Sample.self).where { $0.number == .max }.sum(\.number)
        }
        #expect(overflow?.code == .invalidValue)
        #expect(overflow?.remedy.contains("smaller numbers") == true)
    }

    @Test("Transactions see their own changes")
    func queriesInTransactions() async throws {
        let (storage, _) = try await open(10)
        try await storage.write { tx in
            #expect(try tx.query(Sample.self).count() == 10)
            try tx.query(Sample.self).where { $0.id >= 5 }.deleteAll()
            #expect(try tx.query(Sample.self).fetch().count == 5)
            #expect(try tx.query(Sample.self).where { $0.id == 2 }.updateAll { $0.text.set(to: "two") } == 1)
            #expect(try tx.query(Sample.self).where { $0.text == "two" }.fetchOne()?.id == 2)
            #expect(try tx.query(Sample.self).where { $0.id == 7 }.exists() == false)
        }
        #expect(try await storage.count(Sample.self) == 5)
    }

    @Test("Explanations name the index")
    func explanations() async throws {
        let (storage, _) = try await open(10)
        let scan = try await storage.query(Sample.self).where { $0.text == "a" }.explain()
        #expect(scan.plan.contains { $0.hasPrefix("SCAN") })
        #expect(scan.sql.contains("?"))
        #expect(scan.values.first == "a")
        let search = try await storage.query(Sample.self).where { $0.id == 3 }.explain()
        #expect(search.plan.contains { $0.hasPrefix("SEARCH") })
    }

    /// `fetch` is what the evaluator answers for every row, sorted as it sorts.
    @Test("`fetch` returns what the evaluator selects")
    func fetchEqualsEvaluator() async throws {
        let (storage, _) = try await open(80)
        let columns = SampleRecord.schemaColumns.map { column in
            EvaluatedColumn(
                name: column.name,
                affinity: column.type == "REAL" ? .blob : ColumnAffinity(declaredType: column.type))
        }
        let rows = try await storage.read { db in
            try GRDB.Row.fetchAll(db, sql: "SELECT * FROM samples").map { row in
                columns.map { column -> StorageValue in
                    switch (row[column.name] as DatabaseValue).storage {
                    case .null: .null
                    case .int64(let value): .integer(value)
                    case .double(let value): .real(value)
                    case .string(let value): .text(value)
                    case .blob(let value): .blob(value)
                    }
                }
            }
        }
        var random = SplitMix64(seed: Self.seed)
        for _ in 0..<200 {
            let number = random.below(10) - 3
            let text = random.pick(["a", "A", "%", "é", ""])
            let parts: [RowPredicate] = [
                Column<Int>("number") < number, Column<Int?>("maybeNumber") == number,
                Column<String>("text").contains(text),
                Column<String?>("maybeText") != text, Column<Bool?>("maybeFlag").isNull, Column<Double>("real") >= 0,
                !(Column<String?>("maybeText") > text), Column<Int?>("maybeNumber").between(-1, number),
            ].shuffled(using: &random)
            let predicate = (parts[0] && parts[1]) || (parts[2] && !parts[3]) || (parts[4] && parts[5])
            let orderings = [
                RowOrdering(
                    random.pick(["text", "maybeReal", "number", "data"]), random.chance(50) ? .ascending : .descending),
                RowOrdering("id"),
            ]
            let evaluator = try PredicateEvaluator(predicate, columns: columns)
            let comparator = try RowComparator(orderings, columns: columns)
            let expected = rows.filter { evaluator.evaluate($0) == true }.sorted { comparator.order($0, $1) < 0 }.map {
                $0[0]
            }
            let found = try await storage.query(Sample.self).where { _ in predicate }
                .orderBy(orderings[0].column, orderings[0].order).orderBy("id").fetch()
            #expect(found.map { StorageValue.integer(Int64($0.id)) } == expected, "\(predicate), seed \(Self.seed)")
        }
    }
}
