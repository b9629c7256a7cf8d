import Foundation
import StorageKit
import TestSupport
import Testing

/// `storagekit metrics`: what Prometheus reads of a store's file.
@Suite struct MetricsCommandTests {
    @Test("Metrics fit Prometheus' grammar and say what stats says")
    func grammar() async throws {
        let sample = try await SampleStore()
        let outcome = try ToolProcess.run(["metrics"], store: sample.path)
        #expect(outcome.status == 0)
        let metrics = PrometheusSamples(outcome.output)
        #expect(metrics.faults.isEmpty)
        let json = try ToolProcess.run(["stats", "--format", "json"], store: sample.path).output
        let stats = try #require(try JSONSerialization.jsonObject(with: Data(json.utf8)) as? [String: Any])
        for (metric, key) in [
            ("storagekit_events_total", "events"), ("storagekit_commits_total", "commits"),
            ("storagekit_segments", "segments"), ("storagekit_unsealed_segments", "tail_rows"),
            ("storagekit_log_bytes", "log_bytes"), ("storagekit_log_raw_bytes", "raw_bytes"),
            ("storagekit_file_bytes", "file_bytes"),
        ] {
            #expect(metrics.values[metric] == stats[key] as? Double, "\(metric)")
        }
        #expect(metrics.values["storagekit_sealing_debt_events"] == 0)
    }

    @Test("Labels are escaped")
    func escaping() {
        var text = PrometheusText()
        let samples = [(labels: [(name: "projection", value: "a\"b\\c\nd")], value: 1)]
        text.add("storagekit_dead_letters", as: .gauge, samples, help: "One\\two\nthree.")
        #expect(
            text.text == """
                # HELP storagekit_dead_letters One\\\\two\\nthree.
                # TYPE storagekit_dead_letters gauge
                storagekit_dead_letters{projection="a\\"b\\\\c\\nd"} 1

                """)
        #expect(PrometheusSamples(text.text).faults.isEmpty)
        #expect(PrometheusSamples("storagekit_x{a=\"b} 1\n").faults.count == 1)
        #expect(PrometheusSamples("# HELP x y\n# TYPE x counter\nx 1\n").faults == ["x 1"])
    }
}
