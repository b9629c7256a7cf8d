import Foundation

/// Files and folders whose path begins with a text.
enum FileCandidates {
    /// The maximum number of a folder's entries to examine.
    private static let limit = 5000

    /// - Parameter isWanted: Returns whether to offer a file, by its path. Folders are always offered, because they may contain one.
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
            // Hidden files are offered only if their dot is typed.
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

    /// Returns whether a file begins with the header of an SQLite database.
    static func isDatabase(_ path: String) -> Bool {
        // Non-blocking, because opening a device or a pipe could wait.
        let descriptor = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: 16)
        return read(descriptor, &bytes, 16) == 16 && bytes == Array("SQLite format 3\0".utf8)
    }
}
