import Foundation
import StorageCore
import StorageKit
import StorageTesting
import TestSupport
import Testing

@testable import StorageSync

/// What a refresh remembers of the rows that it has fetched takes a bounded part of memory.
@Suite struct FetchedKeysTests {
    private static func key(_ number: Int) -> StorageValue { .text("a key of a length as they have \(number)") }

    @Test("Memory doesn't grow with the rows")
    func boundedMemory() throws {
        let keys = try FetchedKeys()
        // Several times as many bytes as it may keep in memory.
        let count = testScale > 1 ? 200_000 : 100_000
        for start in stride(from: 0, to: count, by: 1_000) {
            try keys.insert((start..<start + 1_000).lazy.map { Self.key($0 * 2) })
        }
        #expect(keys.usedBytes < 2 * FetchedKeys.cacheBytes)
        var missing: [StorageValue] = []
        try keys.findMissing(isCut: false, skips: false) { visit in
            for number in 0..<2 * count { try visit(Self.key(number)) }
        }
        #expect(keys.usedBytes < 2 * FetchedKeys.cacheBytes)
        try keys.forEachMissing { missing.append($0) }
        #expect(missing == (0..<count).map { Self.key($0 * 2 + 1) })
    }

    @Test("A row whose table stores its key as another number isn't missing")
    func equalNumbers() throws {
        let keys = try FetchedKeys()
        try keys.insert([.real(5), .integer(7), .real(1.5)])
        try keys.findMissing(isCut: false, skips: false) { visit in
            for key in [.integer(5), .real(7), .real(1.5), .real(2.5)] as [StorageValue] { try visit(key) }
        }
        var missing: [StorageValue] = []
        try keys.forEachMissing { missing.append($0) }
        #expect(missing == [.real(2.5)])
    }

    /// Rows in order, fetched ones by capital letters: which of the others are said to be missing.
    private func missing(_ rows: String, isCut: Bool = false, skips: Bool = false) throws -> String {
        let keys = try FetchedKeys()
        try keys.insert(rows.filter(\.isUppercase).map { .text("\($0)") })
        // It may run again.
        for _ in 0..<2 {
            try keys.findMissing(isCut: isCut, skips: skips) { visit in
                for row in rows { try visit(.text("\(row)")) }
            }
        }
        var found = ""
        try keys.forEachMissing { if case .text(let text) = $0 { found += text } }
        return found
    }

    @Test("A window says nothing about what lies outside")
    func windowsBound() throws {
        #expect(try missing("aBcDe") == "ace")
        #expect(try missing("aBcDe", isCut: true) == "ac")
        #expect(try missing("aBcDe", skips: true) == "ce")
        #expect(try missing("aBcDe", isCut: true, skips: true) == "c")
        #expect(try missing("abc", isCut: true) == "")
        #expect(try missing("abc", skips: true) == "")
        #expect(try missing("abc") == "abc")
    }

    @Test("Keys of all kinds are kept exactly")
    func keysOfAllKinds() throws {
        let all: [StorageValue] = [
            .integer(1), .real(1.5), .text("1"), .blob(Data("1".utf8)), .text("é"), .text("e\u{301}"), .blob(Data()),
            .integer(.min), .text(""),
        ]
        let keys = try FetchedKeys()
        for fetched in all {
            let keys = try FetchedKeys()
            try keys.insert([fetched])
            try keys.findMissing(isCut: false, skips: false) { visit in for key in all { try visit(key) } }
            var missing: [StorageValue] = []
            try keys.forEachMissing { missing.append($0) }
            #expect(missing.count == all.count - 1)
        }
        try keys.insert(all + all)
        try keys.findMissing(isCut: false, skips: false) { visit in for key in all { try visit(key) } }
        try keys.forEachMissing { Issue.record("\($0) was fetched") }
    }

    @Test("Own positions are found")
    func ownPositions() {
        var own = OwnPositions()
        for range in [Int64(3)..<5, 5..<6, 8..<8, 9..<12, 20..<21] { own.append(range) }
        let found = (Int64(0)..<25).filter(own.contains)
        #expect(found == [3, 4, 5, 9, 10, 11, 20])
        #expect(own.count == 7)
    }

    /// Each page of a source that others write beside is a commit of its own.
    @MainActor @Test("Many pages are merged")
    func manyPagesAreMerged() async throws {
        let home = try Household()
        try await home.storage.save((0..<3_000).map { Household.chore($0, "old") })
        let source = QuerySource(Household.all, name: "pages").remote(
            QueryRefreshAction { fetch in
                let start = fetch.cursor.flatMap { Int($0) } ?? 0
                let rows = (start..<start + 100).map { Household.chore($0 * 2, "new") }
                return .rows(rows, next: start < 1_900 ? "\(start + 100)" : nil)
            })
        try await home.container.refresh(source)
        let stored = try await home.stored()
        #expect(stored == (0..<2_000).map { Household.chore($0 * 2, "new") })
    }
}
