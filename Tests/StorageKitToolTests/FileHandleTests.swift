import Foundation
import Testing

/// Foundation's older functions of a file handle end the process where the file can't be read or written.
@Suite struct FileHandleTests {
    private static let tool = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appendingPathComponent("Tools/storagekit")

    /// Functions that don't throw.
    private static let ending = [
        #"FileHandle\.\w+\.write\((?!contentsOf:)"#, #"\b[hH]andle\w*\.write\((?!contentsOf:)"#,
        #"\.readDataToEndOfFile\("#, #"\.readData\(ofLength:"#, #"\.availableData\b"#,
        #"\.closeFile\("#, #"\.synchronizeFile\("#, #"\.seekToEndOfFile\("#, #"\.truncateFile\("#,
        #"\.offsetInFile\b"#,
    ]

    @Test("No command uses functions of a file handle that end the process")
    func throwing() throws {
        let paths = try FileManager.default.subpathsOfDirectory(atPath: Self.tool.path)
        #expect(paths.count > 100)
        for path in paths where path.hasSuffix(".swift") {
            let text = try String(contentsOf: Self.tool.appendingPathComponent(path), encoding: .utf8)
            for pattern in Self.ending {
                let found = text.range(of: pattern, options: .regularExpression).map { text[$0] }
                #expect(found == nil, "\(path)")
            }
        }
    }
}
