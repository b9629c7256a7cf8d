import Foundation

/// The time zone of times for people; programs always get UTC.
enum TimeDisplay: String, CaseIterable, Sendable {
    case utc, local

    static let environmentKey = "STORAGEKIT_TIME"

    /// The setting of this process. Points are parsed with the command line, so it is searched for in its words.
    static let current = chosen(
        CommandLine.arguments, environment: ProcessInfo.processInfo.environment, isTerminal: isatty(1) == 1)

    /// Returns the setting of the command line, or the environment, or the device: the user's zone on a terminal, UTC elsewhere, so that scripts work
    /// the same everywhere.
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

    static let zoneRemedy = "Set TZ to one that exists, such as Europe/Berlin, or write --time utc."

    /// Returns the zone that TZ names and the system doesn't know, so that it would mean UTC; nil if there is none.
    static func unknownZone(_ environment: [String: String]) -> String? {
        guard let zone = environment["TZ"], !zone.isEmpty else { return nil }
        let name = zone.hasPrefix(":") ? String(zone.dropFirst()) : zone
        // Rules of POSIX, such as EST5EDT or <+03>-3, have an offset after a name.
        let isRule = name.prefix { $0 != "," && $0 != "/" }.contains(where: \.isNumber)
        let folders = [
            environment["TZDIR"] ?? "", "/usr/share/zoneinfo", "/var/db/timezone/zoneinfo", "/usr/lib/zoneinfo",
        ]
        let paths = name.hasPrefix("/") ? [name] : folders.map { "\($0)/\(name)" }
        let isKnown = paths.contains { path in
            var isFolder: ObjCBool = false
            return FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) && !isFolder.boolValue
        }
        return isRule || isKnown || ["UTC", "GMT"].contains(name) ? nil : zone
    }

    /// Returns the seconds east of UTC at a time in microseconds since 1970.
    func offsetSeconds(at microseconds: Int64) -> Int64 {
        guard self == .local else { return 0 }
        var time = time_t(Timestamp.floorDivide(microseconds, Timestamp.perSecond).quotient)
        var parts = tm()
        guard localtime_r(&time, &parts) != nil else { return 0 }
        return Int64(parts.tm_gmtoff)
    }

    /// Returns the time at which a clock in this zone shows what a UTC clock shows at `microseconds`.
    func time(ofClock microseconds: Int64) -> Int64 {
        self == .utc ? microseconds : Self.time(ofClock: microseconds, offsetSeconds: offsetSeconds)
    }

    /// Returns the same for a zone with given offsets. If clocks are set back, it is the first of the two times; in the hour that is skipped when
    /// they are set forward, which `PointArgument` refuses, the offset before the change applies.
    static func time(ofClock microseconds: Int64, offsetSeconds: (_ time: Int64) -> Int64) -> Int64 {
        // An offset must be valid at the resulting time; around a change the earlier one is tried first.
        let offsets = [-Timestamp.perDay, Timestamp.perDay].map {
            offsetSeconds(microseconds + $0) * Timestamp.perSecond
        }
        for offset in offsets where offsetSeconds(microseconds - offset) * Timestamp.perSecond == offset {
            return microseconds - offset
        }
        return microseconds - offsets[0]
    }
}
