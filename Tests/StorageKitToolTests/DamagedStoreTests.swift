import Foundation
import Testing

/// What every command says of a store that can't be opened as one.
struct DamagedStoreTests {
    private static let commands = [
        ["log"], ["history", "posts/b"], ["stats"], ["at", "head", "SELECT 1"], ["sql", "SELECT 1"], ["undo", "--yes"],
        ["rebuild"], ["verify"], ["doctor"],
    ]

    private func status(_ command: [String], _ path: String) throws -> (Int32, String) {
        let outcome = try ToolProcess.run(command, store: path)
        return (outcome.status, outcome.errors + outcome.output)
    }

    /// - Parameter place: Where bytes are overwritten: those that every SQLite file begins with, or the first page's tree.
    @Test(arguments: [0..<16, 100..<180]) func damageAtTheRootIsToldApart(_ place: Range<Int>) async throws {
        let store = try await SampleStore()
        let sound = FileManager.default.contents(atPath: store.path) ?? Data()
        var bytes = sound
        for index in place { bytes[index] = 0xA5 }
        let path = store.folder.path("damaged.sqlite")
        try bytes.write(to: URL(fileURLWithPath: path))
        for command in Self.commands {
            let (status, text) = try status(command, path)
            #expect(status == 5, "\(command): \(text)")
        }
        #expect(FileManager.default.contents(atPath: path) == bytes)
    }

    @Test func whatIsNoStoreIsNoStore() throws {
        let folder = try TestFolder()
        let path = folder.path("letter.txt")
        try Data("Dear reader, this isn't a database, whatever its name may be.".utf8).write(
            to: URL(fileURLWithPath: path))
        for command in Self.commands {
            let (status, text) = try status(command, path)
            #expect(status == 3, "\(command): \(text)")
        }
    }

    /// The kernel doesn't give the first bytes of this file, which is what a failing disk looks like.
    @Test func aDiskThatDoesNotReadIsNoDamageAndNoWrongName() throws {
        for command in [["verify"], ["log"], ["undo", "--yes"]] {
            let (status, text) = try status(command, "/proc/self/mem")
            #expect(status == 4 && text.contains("can't be read"), "\(command): \(text)")
        }
    }

    @Test func aPipeIsNotWaitedFor() throws {
        let folder = try TestFolder()
        #expect(mkfifo(folder.path("pipe"), 0o600) == 0)
        for command in [["verify"], ["log"], ["undo", "--yes"], ["doctor"]] {
            let (status, text) = try status(command, folder.path("pipe"))
            #expect(status == 3 && text.contains("pipe"), "\(command): \(text)")
        }
    }

    /// The limit of a file's size stands for a full disk, in blocks of 512 bytes.
    @Test(arguments: [8, 64, 72, 80]) func aCreationThatFindsNoRoomLeavesNoFile(_ blocks: Int) throws {
        let folder = try TestFolder()
        let input = folder.path("input.jsonl")
        try Data(#"{"tx":1,"op":"insert","table":"t","id":"1","row":{"a":1}}"#.utf8).write(
            to: URL(fileURLWithPath: input))
        let outcome = try ToolProcess.shell(
            "trap '' XFSZ; ulimit -f \(blocks); storagekit import '\(input)'", store: folder.path())
        #expect(outcome.status == 4, "\(outcome)")
        let left = try FileManager.default.contentsOfDirectory(atPath: folder.url.path)
        #expect(Set(left).isSubset(of: ["input.jsonl", "store.sqlite.lock"]), "\(left)")
    }
}
