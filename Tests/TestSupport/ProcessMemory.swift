import Foundation

/// Resident memory of this process in bytes, as Linux reports it; 0 elsewhere.
///
/// Source: proc(5).
package enum ProcessMemory {
    package static var resident: Double { field("VmRSS") }
    /// The highest value since the process began, or since ``restartPeak()``.
    package static var peak: Double { field("VmHWM") }

    /// - Returns: The bytes that are resident now.
    package static func restartPeak() -> Double {
        // malloc_trim(3), which no module declares: pages that are free already would hide what is taken from now on.
        if let trim = dlsym(UnsafeMutableRawPointer(bitPattern: 0), "malloc_trim") {
            _ = unsafeBitCast(trim, to: (@convention(c) (Int) -> CInt).self)(0)
        }
        try? Data("5".utf8).write(to: URL(fileURLWithPath: "/proc/self/clear_refs"))
        return resident
    }

    private static func field(_ name: String) -> Double {
        let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
        let line = status.split(separator: "\n").first { $0.hasPrefix(name + ":") }
        return (line?.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Double($0) } ?? 0) * 1_024
    }
}
