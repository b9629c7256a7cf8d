import Foundation
import TestSupport
import Testing

/// How commands behave when their output isn't read to the end, and on a terminal.
@Suite struct PipeTests {
    @Test(
        "A reader that leaves ends the command quietly",
        arguments: [
            "log --format jsonl", "log -p", "blame posts/a/1", "blame posts", "grep a --in new", "diff @0",
            "diff @0 --format sql",
            "history posts/a/1", "stats", "tail",
            "tail -f --for 60", "export",
            "completions bash",
        ])
    func leavingReader(command: String) async throws {
        let store = try await SampleStore.shared.value
        let outcome = try ToolProcess.shell(
            "{ storagekit \(command); echo \"status $?\" >&2; } | head -n 1", store: store.path)
        #expect(outcome.errors == "status 0\n", "\(command)")
        #expect(outcome.output.split(separator: "\n", omittingEmptySubsequences: false).count == 2)
    }

    @Test(
        "A status that is the answer doesn't need a reader",
        arguments: [
            ("verify", 5), ("verify --format json", 5), ("doctor", 5), ("rebuild --compare", 1), ("guard status", 1),
            ("diff @0 --exit-code", 1), ("diff @0 --stat --exit-code --format jsonl", 1),
            ("schema diff @0 --exit-code", 1), ("replay --break 'posts/a/1#score = Infinity'", 1),
            ("revert t:2 --dry-run", 7),
            ("at t:3 'SELECT title FROM posts' --diff-with head", 1), ("log --actor nobody", 1), ("grep nothing", 1),
            ("tail --actor nobody", 1), ("schema log posts --until @0", 1), ("history posts/b --actor nobody", 1),
            ("blame unused", 1), ("note t:3", 1),
        ])
    func statusWithoutReader(command: String, status: Int) async throws {
        let store = try await SampleStore()
        try store.damage("UPDATE posts SET views = 999 WHERE id = 'a/1'")
        let outcome = try ToolProcess.shell(
            "{ sleep 0.2; storagekit \(command); echo \"status $?\" >&2; } | true", store: store.path)
        #expect(outcome.errors.hasSuffix("status \(status)\n"), "\(command): \(outcome.errors)")
    }

    @Test("Lines that an import leaves out are in its status without a reader, too")
    func importWithoutReader() throws {
        let folder = try TemporaryFolder()
        let lines = [#"{"tx":1,"op":"insert","table":"t","id":"1","row":{"a":1}}"#, "{", ""]
        let input = folder.path("input.jsonl")
        try Data(lines.joined(separator: "\n").utf8).write(to: URL(fileURLWithPath: input))
        let outcome = try ToolProcess.shell(
            "{ sleep 0.2; storagekit import \(input) --skip-invalid; echo \"status $?\" >&2; } | true",
            store: folder.path())
        #expect(outcome.errors.hasSuffix("status 8\n"), "\(outcome.errors)")
    }

    /// What the tool answers then is tested in the shells themselves: see `CompletionTests`.
    @Test("Completions ask the tool", arguments: ["bash", "zsh", "fish"])
    func completions(shell: String) throws {
        let outcome = try ToolProcess.run(["completions", shell], store: nil)
        #expect(outcome.status == 0)
        #expect(outcome.errors == "")
        #expect(outcome.output.contains(" complete \(shell) "))
    }

    @Test(
        "Input that can't be read is an error",
        arguments: ["sql", "sql -", "exec --yes -", "replay --step", "mcp", "import -"],
        [("&-", "It is closed."), ("/tmp", "Is a directory.")])
    func unreadableInput(command: String, input: (redirection: String, why: String)) async throws {
        let store = try await SampleStore()
        let outcome = try ToolProcess.shell("storagekit \(command) <\(input.redirection)", store: store.path)
        #expect(outcome.status == 4, "\(outcome)")
        #expect(outcome.errors.contains("Reading standard input failed."), "\(outcome)")
        #expect(outcome.errors.contains("why: \(input.why)"), "\(outcome)")
    }

    @Test(
        "A pipe that another program has made non-blocking is waited for",
        arguments: [
            ("sql", "SELECT count(*) AS n FROM seats", "2"), ("exec --yes -", "DELETE FROM seats", "2 rows deleted"),
            ("replay --step", "N\r\nN", "t:3  "), ("mcp", #"{"jsonrpc":"2.0","id":1,"method":"ping"}"#, "result"),
            ("import -", #"{"tx":1,"op":"insert","table":"t","id":"1","row":{"a":1}}"#, "imported 1 operation"),
        ])
    func nonBlockingInput(command: String, text: String, wanted: String) async throws {
        let store = try await SampleStore()
        let (input, output) = (Pipe(), Pipe())
        #expect(fcntl(input.fileHandleForReading.fileDescriptor, F_SETFL, O_NONBLOCK) == 0)
        let process = ToolProcess.prepared(command.split(separator: " ").map(String.init), store: store.path)
        process.standardInput = input
        process.standardOutput = output
        try process.start()
        // Time to find the pipe empty.
        try await Task.sleep(for: .milliseconds(500))
        try input.fileHandleForWriting.write(contentsOf: Data(text.utf8))
        try input.fileHandleForWriting.close()
        let answer = String(decoding: output.fileHandleForReading.allBytes(), as: UTF8.self)
        process.waitForEnd()
        #expect(process.terminationStatus == 0, "\(answer)")
        #expect(answer.contains(wanted), "\(answer)")
    }

    #if os(Linux)  // Elsewhere there is no /dev/full.
        @Test(
            "A change whose report can't be written is known to be stored",
            arguments: [
                "exec 'UPDATE posts SET views = 7' --yes", "tag kept", "note head kept", "guard on", "rebuild",
                "backup $STORAGEKIT_STORE.copy", "restore $STORAGEKIT_STORE -o $STORAGEKIT_STORE.copy",
            ])
        func unwrittenReport(command: String) async throws {
            for (output, reason) in [("/dev/full", "No space left on device."), ("&-", "Standard output is closed.")] {
                let store = try await SampleStore()
                let outcome = try ToolProcess.shell("storagekit \(command) >\(output)", store: store.path)
                #expect(outcome.status == 8, "\(command): \(outcome.errors)")
                #expect(outcome.errors.contains("; only its report couldn't be written."), "\(outcome.errors)")
                #expect(outcome.errors.contains("why: \(reason)"), "\(outcome.errors)")
                #expect(try ToolProcess.run(["verify"], store: store.path).status == 0)
            }
        }

        @Test("An answer that can't be written says why")
        func unwrittenAnswer() async throws {
            let store = try await SampleStore.shared.value
            let full = try ToolProcess.shell("storagekit log >/dev/full", store: store.path)
            #expect(full.status == 4)
            #expect(full.errors.contains("Free some space"), "\(full.errors)")
            let closed = try ToolProcess.shell("storagekit log >&-", store: store.path)
            #expect(closed.status == 4)
            #expect(closed.errors.contains("Standard output is closed."), "\(closed.errors)")
            #expect(!closed.errors.contains("Free some space"), "\(closed.errors)")
        }

        @Test(
            "Help and version that can't be written are a failure, too",
            arguments: ["--version", "--help", "log --help", "help", "help log", ""])
        func unwrittenHelp(words: String) throws {
            for (output, reason) in [("/dev/full", "No space left on device."), ("&-", "Standard output is closed.")] {
                let outcome = try ToolProcess.shell("storagekit \(words) >\(output)", store: nil)
                #expect(outcome.status == 4, "\(words): \(outcome.errors)")
                #expect(outcome.errors.contains("why: \(reason)"), "\(words): \(outcome.errors)")
            }
            let left = try ToolProcess.shell("{ storagekit \(words); echo \"status $?\" >&2; } | true", store: nil)
            #expect(left.errors == "status 0\n", "\(words)")
        }
    #endif

    #if os(Linux)  // Opening a pseudo-terminal differs elsewhere.
        @Test("Lines fit the terminal")
        func linesFitTerminal() async throws {
            let store = try await SampleStore.shared.value
            let text = try terminalOutput(["log", "--oneline"], store: store.path, noColor: "1")
            #expect(!text.contains("\u{1b}"))
            let lines = text.split(separator: "\r\n")
            #expect(lines.count == 5)
            #expect(lines.allSatisfy { $0.count <= 80 })
            #expect(lines.contains { $0.hasSuffix("…") })
        }

        @Test(
            "Every line fits the terminal",
            arguments: [
                ["diff", "@0"], ["diff", "@0", "--stat"], ["blame", "posts/a/1"], ["grep", "a", "--in", "new"],
            ])
        func everyLineFitsTerminal(command: [String]) async throws {
            let store = try await SampleStore.shared.value
            let lines = try terminalOutput(command, store: store.path, noColor: "1").split(separator: "\r\n")
            #expect(lines.count > 2)
            #expect(lines.allSatisfy { $0.count <= 80 })
        }

        @Test("Colours need a terminal")
        func coloursNeedTerminal() async throws {
            let store = try await SampleStore.shared.value
            #expect(try terminalOutput(["log"], store: store.path, noColor: nil).contains("\u{1b}[32m+2\u{1b}[0m"))
            #expect(!(try ToolProcess.run(["log"], store: store.path).output.contains("\u{1b}")))
        }

        @Test("A terminal that is gone doesn't end what draws its progress there")
        func leavingTerminal() throws {
            let folder = try TemporaryFolder()
            let (master, slave) = try openTerminal()
            let process = ToolProcess.prepared(["import", "-"], store: folder.path())
            let input = Pipe()
            process.standardInput = input
            process.standardOutput = FileHandle.nullDevice
            process.standardError = FileHandle(fileDescriptor: slave, closeOnDealloc: false)
            try process.start()
            close(slave)
            var screen = pollfd(fd: master, events: Int16(POLLIN), revents: 0)
            // A slow pipe, until the bar is drawn.
            for number in 1...6_000 where poll(&screen, 1, 100) == 0 {
                let line = #"{"tx":\#(number),"op":"insert","table":"t","id":"\#(number)","row":{"a":1}}"#
                try input.fileHandleForWriting.write(contentsOf: Data("\(line)\n".utf8))
            }
            #expect(screen.revents & Int16(POLLIN) != 0)
            close(master)
            try input.fileHandleForWriting.close()
            process.waitForEnd()
            #expect(process.terminationReason == .exit)
            #expect(process.terminationStatus == 0)
        }

        /// What a command writes to a terminal of 80 columns.
        private func terminalOutput(_ arguments: [String], store: String, noColor: String?) throws -> String {
            let (master, slave) = try openTerminal()
            var size = winsize(ws_row: 24, ws_col: 80, ws_xpixel: 0, ws_ypixel: 0)
            _ = ioctl(slave, UInt(TIOCSWINSZ), &size)
            let process = ToolProcess.prepared(arguments, store: store)
            process.environment?["NO_COLOR"] = noColor
            process.environment?["COLUMNS"] = nil
            process.environment?["STORAGEKIT_PAGER"] = "cat"
            process.standardOutput = FileHandle(fileDescriptor: slave, closeOnDealloc: false)
            let reader = BackgroundThread { () -> [UInt8] in
                var bytes: [UInt8] = []
                var buffer = [UInt8](repeating: 0, count: 4096)
                while case let count = read(master, &buffer, buffer.count), count > 0 { bytes += buffer[..<count] }
                return bytes
            }
            try process.start()
            // When nobody has the terminal open any more, reading ends.
            close(slave)
            process.waitForEnd()
            defer { close(master) }
            return String(decoding: reader.wait() ?? [], as: UTF8.self)
        }

        /// Both ends of a new pseudo-terminal; see ioctl_tty(2). The functions of POSIX for this aren't visible in Swift.
        private func openTerminal() throws -> (master: Int32, slave: Int32) {
            let setLock: UInt = 0x4004_5431
            let getNumber: UInt = 0x8004_5430
            let master = open("/dev/ptmx", O_RDWR | O_NOCTTY)
            var isLocked: Int32 = 0
            var number: Int32 = -1
            try #require(
                master >= 0 && ioctl(master, setLock, &isLocked) == 0 && ioctl(master, getNumber, &number) == 0)
            let slave = open("/dev/pts/\(number)", O_RDWR | O_NOCTTY)
            try #require(slave >= 0)
            return (master, slave)
        }
    #endif
}
