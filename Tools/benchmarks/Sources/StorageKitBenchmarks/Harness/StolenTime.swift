import Foundation

/// Processor time that a hypervisor gave to others while this machine had something to do, as Linux reports it; nil elsewhere.
///
/// Two threads that wake each other lose more by it than one that runs on, so a run with much of it tells little.
enum StolenTime {
    /// Of all processors since the machine was started.
    static func seconds() -> Double? {
        guard let text = try? String(contentsOfFile: "/proc/stat", encoding: .utf8),
            let line = text.split(separator: "\n").first(where: { $0.hasPrefix("cpu ") })
        else { return nil }
        // The name, then user, nice, system, idle, iowait, irq, softirq, steal: see proc(5).
        let fields = line.split(separator: " ")
        guard fields.count > 8, let ticks = Double(fields[8]) else { return nil }
        return ticks / Double(sysconf(Int32(_SC_CLK_TCK)))
    }
}
