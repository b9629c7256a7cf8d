import ArgumentParser

/// `storagekit manual`: the manual page.
struct ManualCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "manual", abstract: "Print the manual page, for man.",
        discussion: """
              storagekit manual > /usr/local/share/man/man1/storagekit.1
              storagekit manual | man -l -
            """)

    func run() throws {
        var page = try ManualPage(
            StorageKitTool._dumpHelp(), version: StorageKitTool.configuration.version)
        let output = StandardOutput()
        try output.write(page.text())
        try output.flush()
    }
}
