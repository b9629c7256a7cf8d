import Foundation
import TestSupport
import Testing

@testable import StorageKitTool

/// People have their own zone on a terminal, programs UTC.
@Suite struct TimeDisplayTests {
    @Test("The zone is chosen by option, environment and device")
    func choice() {
        func chosen(_ words: [String], _ environment: [String: String] = [:], terminal: Bool) -> TimeDisplay {
            TimeDisplay.chosen(["storagekit"] + words, environment: environment, isTerminal: terminal)
        }
        #expect(chosen(["log"], terminal: true) == .local)
        #expect(chosen(["log"], terminal: false) == .utc)
        #expect(chosen(["log", "--time", "local"], terminal: false) == .local)
        #expect(chosen(["log", "--time=utc"], terminal: true) == .utc)
        #expect(chosen(["log"], ["STORAGEKIT_TIME": "utc"], terminal: true) == .utc)
        #expect(chosen(["log", "--time", "local"], ["STORAGEKIT_TIME": "utc"], terminal: true) == .local)
        #expect(chosen(["grep", "--", "--time", "local"], terminal: false) == .utc)
    }

    private func output(_ words: [String], zone: String, store: String) throws -> String {
        let process = ToolProcess.prepared(words, store: store)
        process.environment?["TZ"] = zone
        let pipe = Pipe()
        process.standardOutput = pipe
        try process.start()
        let text = pipe.fileHandleForReading.allBytes()
        process.waitForEnd()
        #expect(process.terminationStatus == 0, "\(words)")
        return String(decoding: text, as: UTF8.self)
    }

    @Test("Times are shown and read in the zone that was asked for", arguments: ["JST-9", "EST5", "IST-5:30"])
    func shownAndRead(zone: String) async throws {
        let store = try await SampleStore.shared.value
        let local = try output(["log", "--oneline", "--time", "local"], zone: zone, store: store.path)
        let suffix = ["JST-9": "+09:00", "EST5": "-05:00", "IST-5:30": "+05:30"][zone] ?? ""
        #expect(local.split(separator: "\n").allSatisfy { $0.contains(suffix) }, "\(local)")
        // What is shown can be typed: the same commits are found by their shown times, without the offset, too.
        let shown = try #require(local.split(separator: "\n").last?.split(separator: " ").first { $0.contains("T") })
        for time in [String(shown), String(shown.dropLast(6))] {
            let commit = try output(["show", time, "--time", "local"], zone: zone, store: store.path)
            #expect(commit.hasPrefix("commit   t:2\n"), "\(time): \(commit)")
        }
        let difference = try output(
            ["diff", String(shown.dropLast(6)), "--time", "local"], zone: zone, store: store.path)
        #expect(difference.hasPrefix("from @17 (t:2) to "), "\(difference)")
        let utc = try output(["log", "--oneline"], zone: zone, store: store.path)
        #expect(utc.contains("2024-05-01T11:00:00Z"), "\(utc)")
        let json = try output(["log", "--format", "jsonl", "--time", "local"], zone: zone, store: store.path)
        #expect(json.contains(#""time":"2024-05-01T11:00:00Z""#), "\(json)")
    }

    @Test("An offset that can't be written is none", arguments: ["LMT4:56:02", "AAA99"])
    func unwritableOffsets(zone: String) async throws {
        let store = try await SampleStore.shared.value
        let local = try output(["log", "--oneline", "--time", "local"], zone: zone, store: store.path)
        #expect(local == (try output(["log", "--oneline", "--time", "utc"], zone: zone, store: store.path)))
    }

    /// New York in 2024: 01:30 comes twice in autumn, and 02:30 in spring not at all.
    @Test(
        "Changes of clocks are taken into account",
        arguments: [
            ("2024-07-01T12:00:00Z", "2024-07-01T16:00:00Z"), ("2024-12-01T12:00:00Z", "2024-12-01T17:00:00Z"),
            ("2024-11-03T01:30:00Z", "2024-11-03T05:30:00Z"), ("2024-11-03T02:30:00Z", "2024-11-03T07:30:00Z"),
            ("2024-03-10T01:30:00Z", "2024-03-10T06:30:00Z"), ("2024-03-10T02:30:00Z", "2024-03-10T07:30:00Z"),
            ("2024-03-10T03:30:00Z", "2024-03-10T07:30:00Z"),
        ])
    func summerTime(clock: String, utc: String) throws {
        let summer = try Timestamp.parse("2024-03-10T07:00:00Z")..<Timestamp.parse("2024-11-03T06:00:00Z")
        let time = TimeDisplay.time(ofClock: try Timestamp.parse(clock)) { summer.contains($0) ? -4 * 3600 : -5 * 3600 }
        #expect(Timestamp.text(time) == utc)
    }

    @Test(
        "A time that no clock shows, and an unknown zone, are refused",
        arguments: [
            ("America/New_York", "'2024-03-10 02:30'", "clocks are set forward then"),
            ("Nope/Zone", "'2024-05-01 10:00'", "TZ names an unknown time zone, 'Nope/Zone'"),
        ])
    func refusedTimes(zone: String, point: String, answer: String) async throws {
        let store = try await SampleStore.shared.value
        let line = "export TZ=\(zone); storagekit at \(point) posts --time local"
        let outcome = try ToolProcess.shell(line, store: store.path)
        #expect(outcome.status == 2, "\(outcome.output)")
        #expect(outcome.errors.contains(answer), "\(outcome.errors)")
    }

    @Test("Rules, files and UTC are zones")
    func knownZones() {
        for zone in ["UTC", "GMT", "EST5EDT", "<+03>-3", "EST5EDT,M3.2.0/2,M11.1.0/2", "", ":UTC"] {
            #expect(TimeDisplay.unknownZone(["TZ": zone]) == nil, "\(zone)")
        }
        #expect(TimeDisplay.unknownZone(["TZ": "Nope/Zone"]) == "Nope/Zone")
    }

    #if os(Linux)  // Opening a pseudo-terminal differs elsewhere.
        @Test("A terminal shows the zone of the user")
        func terminalZone() async throws {
            let store = try await SampleStore.shared.value
            let outcome = try ToolProcess.onTerminal(["log", "-1"], store: store.path, columns: 120, zone: "JST-9")
            #expect(outcome.output.contains("+09:00"), "\(outcome.output)")
        }
    #endif
}
