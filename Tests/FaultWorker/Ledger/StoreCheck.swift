import Foundation
import StorageKit
import StorageMaintenance
import StorageProjections

/// Opens a store after a fault, as a program would that is started again, and holds it to what is known of it.
struct StoreCheck {
    let path: String
    let expectation: Expectation

    func run() async -> [Finding] {
        guard FileManager.default.fileExists(atPath: path) else {
            let isLost = expectation.acknowledged > 0
            return (isLost ? [Finding(kind: .lost, text: "the store isn't there")] : []) + (await checkFiles())
        }
        do {
            // Without the projection, so that it stays where it was.
            let storage = try StorageKit.start(at: URL(fileURLWithPath: path)).facade
            let findings: [Finding]
            do {
                findings = try await check(storage)
            } catch {
                findings = [Finding(kind: .unusable, text: "\(error)")]
            }
            try await storage.close()
            return findings + (await checkFiles())
        } catch {
            let kind: Finding.Kind = expectation.acknowledged > 0 ? .unusable : .stillborn
            return [Finding(kind: kind, text: "\(error)")]
        }
    }

    /// Goes on with the store, which must be as good as one that nothing has happened to.
    func goOn() async -> [Finding] {
        do {
            let storage = try LabStore.open(path)
            do {
                var findings: [Finding] = []
                let receipt = try await storage.save(LabStore.marks("afterwards", 3))
                try await storage.waitForProjections(through: receipt)
                findings += try await checkProjection(storage)
                try await storage.seal()
                try await storage.rebuild()
                try await storage.projections.rebuild("mark_counts")
                findings += try await checkProjection(storage)
                findings += Self.findings(try await storage.verify(), of: path)
                try await storage.close()
                return findings.map { Finding(kind: $0.kind, text: "afterwards: \($0.text)") }
            } catch {
                // The error that ended it is the one that matters.
                try? await storage.close()
                throw error
            }
        } catch {
            return [Finding(kind: .unusable, text: "afterwards: \(error)")]
        }
    }

    private static func findings(_ report: VerifyReport, of path: String) -> [Finding] {
        report.findings.map { Finding(kind: .unsound, text: "\((path as NSString).lastPathComponent): \($0)") }
    }

    private func check(_ storage: Storage) async throws -> [Finding] {
        var findings = Self.findings(try await storage.verify(), of: path)
        if storage.head < expectation.head {
            findings.append(
                Finding(
                    kind: .lost, text: "the log ends at @\(storage.head), and @\(expectation.head) was acknowledged"))
        }
        let counts = try await storage.read { db in
            var counts: [String: Int] = [:]
            for table in ["marks", "imported"] where try db.tableExists(table) {
                let rows = try Row.fetchAll(db, sql: "SELECT batch, count(*) AS rows FROM \(table) GROUP BY batch")
                for row in rows { counts[row["batch"], default: 0] += row["rows"] as Int }
            }
            return counts
        }
        findings += check(counts)
        findings += try await checkProjection(storage)
        return findings
    }

    private func check(_ counts: [String: Int]) -> [Finding] {
        var findings: [Finding] = []
        for (batch, possible) in expectation.rows {
            let count = counts[batch] ?? 0
            guard !possible.allows(count) else { continue }
            let kind: Finding.Kind = count == 0 || possible.perhaps.isEmpty ? .lost : .half
            findings.append(Finding(kind: kind, text: "\(batch) has \(count) rows, not \(possible)"))
        }
        for (batch, count) in counts where expectation.rows[batch] == nil {
            findings.append(Finding(kind: .half, text: "\(batch) has \(count) rows that nobody has asked for"))
        }
        for rows in expectation.open.values where rows.count > 1 && findings.isEmpty {
            let changed = rows.filter { counts[$0.key] ?? 0 != expectation.rows[$0.key]?.certain ?? 0 }
            guard !changed.isEmpty, changed.count < rows.count else { continue }
            findings.append(Finding(kind: .half, text: "of the write of \(rows) only \(changed) is there"))
        }
        return findings
    }

    /// The projection's tables are what follows from the log up to its checkpoint.
    private func checkProjection(_ storage: Storage) async throws -> [Finding] {
        guard let status = try await storage.projections.status().first(where: { $0.name == "mark_counts" }) else {
            return []
        }
        guard status.position > 0, try await storage.read({ try $0.tableExists("marks") }) else { return [] }
        let past = try await storage.asOf(.position(status.position)).all(Mark.self)
        let expected = Dictionary(past.map { ($0.batch, 1) }, uniquingKeysWith: +)
        let counts = try await storage.read { db in
            let rows = try Row.fetchAll(db, sql: "SELECT batch, marks FROM mark_counts")
            return Dictionary(uniqueKeysWithValues: rows.map { ($0["batch"] as String, $0["marks"] as Int) })
        }
        guard counts != expected else { return [] }
        return [Finding(kind: .half, text: "the projection at @\(status.position) has \(counts), not \(expected)")]
    }

    /// Copies that were finished are there and whole; one that wasn't is there whole or not at all.
    private func checkFiles() async -> [Finding] {
        var findings: [Finding] = []
        let folder = (path as NSString).deletingLastPathComponent
        for (name, head) in expectation.files {
            let file = folder + "/" + name
            guard FileManager.default.fileExists(atPath: file) else {
                if head != nil { findings.append(Finding(kind: .lost, text: "\(name) isn't there")) }
                continue
            }
            do {
                let configuration = StorageConfig(isReadOnly: true)
                let copy = try StorageKit.start(at: URL(fileURLWithPath: file), config: configuration).facade
                findings += Self.findings(try await copy.verify(), of: file)
                if let head, copy.head < head {
                    findings.append(Finding(kind: .lost, text: "\(name) ends at @\(copy.head), not @\(head)"))
                }
                try await copy.close()
            } catch {
                findings.append(Finding(kind: .unusable, text: "\(name): \(error)"))
            }
        }
        return findings
    }
}
