import ArgumentParser
import StorageKit
import StorageSync

/// `storagekit metrics`: metrics of the store's file, for Prometheus.
struct MetricsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "metrics", abstract: "Print metrics of a store for Prometheus.",
        discussion: """
            Prints counts, bytes, the sealing debt, the lag of each projection, dead letters and unsent writes in the \
            text form that Prometheus reads. Reads the store while a program writes to it. What only that program \
            knows, such as latencies, is at /metrics of storagekit serve.

              storagekit metrics -s app.sqlite
              storagekit metrics -s app.sqlite > /var/lib/node_exporter/storagekit.prom
            """)

    @OptionGroup var store: StoreOption

    func run() async throws {
        let path = try store.path()
        try await store.read { store in
            var text = PrometheusText()
            try StoreMetrics(store, path: path, countsLog: true).write(to: &text)
            try OutboxStatus.all(in: store.database).write(to: &text)
            let output = StandardOutput()
            try output.write(text.text)
            try output.flush()
        }
    }
}
