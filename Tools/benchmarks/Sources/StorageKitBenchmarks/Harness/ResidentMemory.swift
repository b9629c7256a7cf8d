import CBaseline
import Foundation

/// Resident memory of this process as Linux reports it; nil elsewhere.
enum ResidentMemory {
    /// Gives freed memory back to the system and restarts the peak from what is resident now, which it returns.
    static func restartPeak() -> Double? {
        cb_release_free_memory()
        guard let file = fopen("/proc/self/clear_refs", "w") else { return nil }
        // "5" resets the peak, see proc(5).
        let isWritten = fputs("5", file) >= 0
        guard fclose(file) == 0, isWritten else { return nil }
        return status("VmRSS")
    }

    /// The highest value since `restartPeak`, in bytes.
    static func peak() -> Double? {
        status("VmHWM")
    }

    /// The value now, in bytes.
    static func current() -> Double? { status("VmRSS") }

    /// The highest value that another process has ever had.
    static func peak(of process: pid_t) -> Double? { status("VmHWM", of: "\(process)") }

    private static func status(_ field: String, of process: String = "self") -> Double? {
        guard let status = try? String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8) else { return nil }
        for line in status.split(separator: "\n") where line.hasPrefix(field + ":") {
            let kibibytes = line.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Double($0) }
            return kibibytes.map { $0 * 1_024 }
        }
        return nil
    }
}
