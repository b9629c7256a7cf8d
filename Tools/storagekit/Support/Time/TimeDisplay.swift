import Foundation

/// In which zone people read and write times; programs always get UTC.
enum TimeDisplay: String, CaseIterable, Sendable {
    case utc, local

    static let environmentKey = "STORAGEKIT_TIME"

    /// That of this process. Points are read while the command line still is, so it is looked up there.
    static let current = chosen(
        CommandLine.arguments, environment: ProcessInfo.processInfo.environment, isTerminal: isatty(1) == 1)

    /// What the command line says, or the environment, or the device: a person's zone on a terminal, UTC elsewhere, so that
    /// scripts mean the same everywhere.
    static func chosen(_ words: [String], environment: [String: String], isTerminal: Bool) -> TimeDisplay {
        let words = words.prefix { $0 != "--" }
        for (word, next) in zip(words, words.dropFirst() + [""]) {
            if word == "--time", let choice = TimeDisplay(rawValue: next) { return choice }
            if word.hasPrefix("--time="), let choice = TimeDisplay(rawValue: String(word.dropFirst(7))) {
                return choice
            }
        }
        return environment[environmentKey].flatMap { TimeDisplay(rawValue: $0) } ?? (isTerminal ? .local : .utc)
    }

    /// Seconds east of UTC at a time, in microseconds since 1970.
    func offsetSeconds(at microseconds: Int64) -> Int64 {
        guard self == .local else { return 0 }
        var time = time_t(Timestamp.floorDivide(microseconds, Timestamp.perSecond).quotient)
        var parts = tm()
        guard localtime_r(&time, &parts) != nil else { return 0 }
        return Int64(parts.tm_gmtoff)
    }

    /// The time that a clock in this zone shows as `microseconds` of UTC.
    func time(ofClock microseconds: Int64) -> Int64 {
        self == .utc ? microseconds : Self.time(ofClock: microseconds, offsetSeconds: offsetSeconds)
    }

    /// The same in a zone of which the offsets are known. Where clocks are set back, it is the first of the two times; in
    /// the hour that is left out when they are set forward, as if they hadn't been.
    static func time(ofClock microseconds: Int64, offsetSeconds: (_ time: Int64) -> Int64) -> Int64 {
        // An offset holds for the time that it leads to; around a change the one before it is tried first.
        let offsets = [-Timestamp.perDay, Timestamp.perDay].map {
            offsetSeconds(microseconds + $0) * Timestamp.perSecond
        }
        for offset in offsets where offsetSeconds(microseconds - offset) * Timestamp.perSecond == offset {
            return microseconds - offset
        }
        return microseconds - offsets[0]
    }
}
