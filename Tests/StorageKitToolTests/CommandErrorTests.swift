import Foundation
import StorageCore
import StorageKit
import TestSupport
import Testing

@testable import StorageKitTool
// Swift Testing has a type of this name too.
@testable import enum StorageKitTool.ExitStatus

@Suite struct CommandErrorTests {
    @Test("Exit statuses are the documented numbers")
    func exitStatuses() {
        let statuses: [ExitStatus] = [
            .done, .negative, .usage, .notFound, .unavailable, .corrupt, .inconclusive, .conflict, .partial,
        ]
        #expect(statuses.map(\.rawValue) == Array(0...8))
    }

    @Test(
        "Codes of the store map to statuses",
        arguments: [
            (StorageError.Code.busy, ExitStatus.unavailable), (.readOnly, .unavailable),
            (.unsupportedFormat, .unavailable),
            (.notAStore, .notFound), (.notFound, .notFound), (.corrupt, .corrupt), (.conflict, .conflict),
            (.schemaMismatch, .conflict),
            (.invalidName, .usage), (.database, .usage), (.invalidArgument, .usage), (.ioError, .unavailable),
            (StorageError.Code("made-up-later"), .inconclusive),
        ] as [(StorageError.Code, ExitStatus)])
    func statusOfStoreErrors(code: StorageError.Code, status: ExitStatus) {
        let error = CommandError(
            wrapping: StorageError(code, "It happened.", remedy: "Fix it.", cause: BrokenPipe()))
        #expect(error.status == status)
        #expect(error.what == "It happened.")
        #expect(error.next == "Fix it.")
        #expect(error.why == "BrokenPipe()")
    }

    @Test("Errors take a line each")
    func errorLines() {
        let error = CommandError(.notFound, "No row.", why: "It was\ndeleted.", next: "storagekit log users/42")
        #expect(error.description == "error: No row.\n  why: It was␊deleted.\n next: storagekit log users/42\n")
        #expect(error.rendered(style: .colored).hasPrefix("\u{1b}[31merror:\u{1b}[0m No row.\n"))
        #expect(CommandError(.usage, "Only this.").description == "error: Only this.\n")
    }

    /// Inside a program, the error says to use `write`.
    @Test("The advice for a store that can't be changed is for users of the tool")
    func adviceForReadOnly() async throws {
        let store = try await SampleStore()
        let storage = try StorageKit.start(
            at: URL(fileURLWithPath: store.path), config: StorageConfig(isReadOnly: true)
        ).facade
        let error = await #expect(throws: StorageError.self) {
            try await storage.read { try $0.execute(sql: "DELETE FROM posts") }
        }
        #expect(CommandError(try #require(error)).next == "Check the permissions of its file and folder.")
        try await storage.close()
    }

    /// SQLite's own lock says only that it is locked, and shows a statement that nobody typed.
    @Test("A foreign lock is explained")
    func foreignLock() {
        let error = CommandError(
            StorageError(.busy, "The store is locked while running `BEGIN IMMEDIATE TRANSACTION`.", remedy: "Wait."))
        #expect(error.status == .unavailable)
        #expect(error.what == "Another program holds a lock on the store's file.")
        #expect(!error.description.contains("BEGIN"))
        #expect(error.naming(store: "a b.sqlite").next.hasSuffix("Who has the file open: fuser -v 'a b.sqlite'"))
    }

    @Test("Bad lines name their location")
    func locationOfBadLine() {
        let error = CommandError(InputError(offset: 6, problem: "it is bad", remedy: "Fix it."), line: 7)
        #expect(error.what == "Line 7, byte 7: it is bad.")
        #expect(error.status == .conflict)
    }
}
