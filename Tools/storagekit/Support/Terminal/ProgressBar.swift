import Foundation
import Synchronization

/// Progress of long work on standard error, with rate and remaining time; silent unless that is a terminal.
///
/// It draws at most ten times a second, and not immediately, so that short work shows no bar.
final class ProgressBar {
    private static let interval = Duration.milliseconds(100)
    private static let delay = Duration.milliseconds(300)
    private static let barWidth = 24
    /// Whether a bar is on the terminal that standard error is.
    private static let isShown = Atomic(false)

    private let label: String
    private let unit: String
    private let total: Int?
    private let begun: Int
    private let terminal: Terminal
    private let show: (String) -> Void
    private let now: () -> ContinuousClock.Instant
    private let started: ContinuousClock.Instant
    private var lastDrawn: ContinuousClock.Instant?

    /// - Parameters:
    ///   - total: The amount of work in units; nil if unknown.
    ///   - begun: The amount that was already done before, which doesn't count for the rate.
    ///   - show: Writes text unchanged. A terminal that is gone doesn't end the work.
    init(
        _ label: String, total: Int?, begun: Int = 0, unit: String, terminal: Terminal = Terminal(descriptor: 2),
        show: @escaping (String) -> Void = { try? FileHandle.standardError.write(contentsOf: Data($0.utf8)) },
        now: @escaping () -> ContinuousClock.Instant = { ContinuousClock.now }
    ) {
        self.label = label
        self.unit = unit
        self.total = total
        self.begun = begun
        self.terminal = terminal
        self.show = show
        self.now = now
        started = now()
    }

    /// - Parameter completed: The total amount done, in units.
    func update(_ completed: Int) {
        // A pager owns the screen.
        guard terminal.isTerminal, !Pager.isRunning else { return }
        let time = now()
        guard time - started >= Self.delay, lastDrawn.map({ time - $0 >= Self.interval }) ?? true else { return }
        lastDrawn = time
        Self.isShown.store(true, ordering: .sequentiallyConsistent)
        let width = max((terminal.width ?? Terminal.fallbackWidth) - 1, 1)
        show("\r\u{1b}[K" + DisplayWidth.truncated(line(completed, elapsed: time - started), to: width))
    }

    /// Removes the bar. Call it on success and on failure, before anything else is written to the terminal.
    func finish() {
        guard lastDrawn != nil else { return }
        lastDrawn = nil
        Self.isShown.store(false, ordering: .sequentiallyConsistent)
        show("\r\u{1b}[K")
    }

    /// Removes the bar from any thread, when a signal is about to end the process.
    static func clear() {
        guard isShown.exchange(false, ordering: .sequentiallyConsistent) else { return }
        // A terminal that is gone has no bar.
        _ = write(2, "\r\u{1b}[K", 4)
    }

    /// `import  ████░░░░  45%  1,234,567 lines  98,765/s  12 s left`
    func line(_ completed: Int, elapsed: Duration) -> String {
        let seconds = Double(elapsed.components.seconds) + Double(elapsed.components.attoseconds) / 1e18
        let rate = seconds > 0 ? Double(completed - begun) / seconds : 0
        var parts = [label]
        if let total, total > 0 {
            let share = min(Double(completed) / Double(total), 1)
            let filled = Int(share * Double(Self.barWidth))
            parts.append(
                String(repeating: "█", count: filled) + String(repeating: "░", count: Self.barWidth - filled))
            parts.append("\(Int(share * 100))%")
        }
        if unit == "bytes" {
            parts.append(NumberText.bytes(Int64(completed)))
            parts.append("\(NumberText.bytes(Int64(rate)))/s")
        } else {
            parts.append("\(NumberText.grouped(completed)) \(unit)")
            parts.append("\(NumberText.grouped(Int(rate)))/s")
        }
        if let total, rate > 0, completed < total {
            let left = Double(total - completed) / rate
            // More than a year isn't shown: it would be useless and wouldn't fit.
            if left < 31_536_000 { parts.append("\(Age.text(microseconds: Int64(max(left, 1)) * 1_000_000)) left") }
        }
        return parts.joined(separator: "  ")
    }
}
