import Foundation
import Testing

/// A file's name says what it holds, so that a reader who has only the list of files opens the right one.
@Suite struct FileNameTests {
    /// Whether a name says nothing, alone or as a topic or the end of a type.
    private static func isEmpty(_ name: String) -> Bool {
        name.contains(#/(^|\+|[a-z])(Support|Helpers?|Util(itie)?s?|Misc|Common|Extensions?|Manager)$/#)
    }

    /// Pairs that stay: one is the other many times over, in the same loop.
    private static let pairs: Set<String> = ["ColumnStream"]

    private static func modules() throws -> [String: [String]] {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        var modules: [String: [String]] = [:]
        for (folder, depth) in [("Sources", 1), ("Tools/storagekit", 0)] {
            for path in try FileManager.default.subpathsOfDirectory(atPath: root.appendingPathComponent(folder).path)
            where path.hasSuffix(".swift") {
                let module = ([folder] + path.split(separator: "/").prefix(depth).map(String.init)).joined(
                    separator: "/")
                let name = URL(fileURLWithPath: path).deletingPathExtension().lastPathComponent
                modules[module, default: []].append(name)
            }
        }
        return modules
    }

    @Test("Files of a module don't differ by a plural")
    func plurals() throws {
        for (module, names) in try Self.modules() {
            let known = Set(names)
            #expect(known.count > 0)
            for name in known.subtracting(Self.pairs) {
                #expect(!known.contains(name + "s"), "\(module): \(name) and \(name)s")
            }
        }
    }

    @Test("No file is named for being of use")
    func emptyNames() throws {
        for (module, names) in try Self.modules() {
            for name in names { #expect(!Self.isEmpty(name), "\(module): \(name)") }
        }
    }

    @Test("No two files of a module have one name")
    func repetitions() throws {
        for (module, names) in try Self.modules() {
            for (name, files) in Dictionary(grouping: names, by: \.self) {
                #expect(files.count == 1, "\(module): \(name)")
            }
        }
    }
}
