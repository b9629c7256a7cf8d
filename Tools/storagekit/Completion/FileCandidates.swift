import Foundation

/// Files and folders by the beginning of their path.
enum FileCandidates {
    /// So many entries of a folder are looked at.
    private static let limit = 5000

    /// - Parameter isWanted: Whether a file is, by its path. Folders always are, because it may be in one.
    static func all(
        _ typed: String, _ environment: [String: String], where isWanted: (String) -> Bool
    ) -> [Candidate] {
        let slash = typed.lastIndex(of: "/")
        let folder = slash.map { String(typed[...$0]) } ?? ""
        let path = ShellLine.withHome(folder.isEmpty ? "." : folder, environment)
        guard let stream = opendir(path) else { return [] }
        defer { closedir(stream) }
        var names: [String] = []
        while names.count < limit, let entry = readdir(stream) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(validatingCString: $0) }
            }
            guard let name, name != ".", name != ".." else { continue }
            // Hidden files are meant where their dot is typed.
            if name.hasPrefix("."), folder.utf8.count == typed.utf8.count { continue }
            if (folder + name).utf8.starts(with: typed.utf8) { names.append(name) }
        }
        return names.sorted().compactMap { name in
            var status = stat()
            let full = path.hasSuffix("/") ? path + name : path + "/" + name
            guard stat(full, &status) == 0 else { return nil }
            if status.st_mode & S_IFMT == S_IFDIR { return Candidate(text: folder + name + "/", isPartial: true) }
            return status.st_mode & S_IFMT == S_IFREG && isWanted(full) ? Candidate(text: folder + name) : nil
        }
    }

    /// Whether a file begins as databases of SQLite do.
    static func isDatabase(_ path: String) -> Bool {
        // A device or a pipe would make it wait.
        let descriptor = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: 16)
        return read(descriptor, &bytes, 16) == 16 && bytes == Array("SQLite format 3\0".utf8)
    }
}
