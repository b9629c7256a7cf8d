package import StorageKit

extension [OutboxStatus] {
    /// Adds the contents of the outboxes to metrics, by engine and path.
    package func write(to text: inout PrometheusText) {
        func labels(_ outbox: OutboxStatus) -> [(name: String, value: String)] {
            [(name: "engine", value: outbox.manager), (name: "path", value: outbox.path)]
        }
        text.add(
            "storagekit_outbox_writes", as: .gauge,
            flatMap { outbox in
                [
                    ("waiting", outbox.writes.count { $0.state == .waiting }),
                    ("sent", outbox.writes.count { $0.state == .sent }),
                    ("parked", outbox.parkedCount),
                ].map { (labels: labels(outbox) + [(name: "state", value: $0.0)], value: $0.1) }
            }, help: "Writes that a remote hasn't accepted, by engine, path and state.")
        text.add(
            "storagekit_outbox_failures", as: .gauge, map { (labels: labels($0), value: $0.failures) },
            help: "Failures since the remote's last answer.")
    }
}
