import Foundation
import TestSupport

extension ToolProcess {
    /// Runs the tool with its standard output on a terminal of that many columns.
    ///
    /// - Parameter answer: What is typed there; with it standard input is the terminal too.
    static func onTerminal(
        _ arguments: [String], store: String?, in folder: URL? = nil, columns: UInt16 = 80, noColor: Bool = false,
        zone: String? = nil, variables: [String: String] = [:], answer: String? = nil
    ) throws -> Outcome {
        let (master, slave) = try openTerminal(columns: columns)
        let process = prepared(arguments, store: store)
        var environment = environment(store: store)
        // The terminal itself says how wide it is.
        environment["COLUMNS"] = nil
        // What a pager does with it isn't looked at here.
        environment["STORAGEKIT_PAGER"] = "cat"
        if let zone { environment["TZ"] = zone }
        if noColor { environment["NO_COLOR"] = "1" }
        environment.merge(variables) { $1 }
        process.environment = environment
        if let folder { process.currentDirectoryURL = folder }
        process.standardOutput = FileHandle(fileDescriptor: slave, closeOnDealloc: false)
        if let answer {
            process.standardInput = FileHandle(fileDescriptor: slave, closeOnDealloc: false)
            _ = Array(answer.utf8).withUnsafeBytes { write(master, $0.baseAddress, $0.count) }
        }
        let errors = Pipe()
        process.standardError = errors
        try process.start()
        close(slave)
        let errorHandle = errors.fileHandleForReading
        let errorReader = BackgroundThread { errorHandle.allBytes() }
        let text = FileHandle(fileDescriptor: master, closeOnDealloc: false).allBytes()
        process.waitForEnd()
        close(master)
        return Outcome(
            output: String(decoding: text, as: UTF8.self).replacingOccurrences(of: "\r\n", with: "\n"),
            errors: String(decoding: errorReader.wait() ?? Data(), as: UTF8.self), status: process.terminationStatus)
    }

    private static func openTerminal(columns: UInt16) throws -> (master: Int32, slave: Int32) {
        let master = open("/dev/ptmx", O_RDWR | O_NOCTTY)
        var isLocked: Int32 = 0
        var number: UInt32 = 0
        // Linux's own requests: the library's functions for it are hidden from Swift.
        let (setLock, getNumber): (UInt, UInt) = (0x4004_5431, 0x8004_5430)
        guard master >= 0, ioctl(master, setLock, &isLocked) == 0, ioctl(master, getNumber, &number) == 0 else {
            throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO)
        }
        let name = "/dev/pts/\(number)"
        let slave = open(name, O_RDWR | O_NOCTTY)
        guard slave >= 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
        var size = winsize(ws_row: 24, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0)
        guard ioctl(slave, UInt(TIOCSWINSZ), &size) == 0 else {
            throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO)
        }
        return (master, slave)
    }

    /// A terminal whose last program has let go of it ends with an error and not with an end.
}
