extension Report {
    /// The limits of the design with what was measured, or nothing if no benchmark that ran has any.
    var budgets: String {
        var table = MarkdownTable(header: ["Budget", "Must", "Aim", "Measured", "Met"])
        for result in results {
            for budget in result.benchmark.budgets {
                let sign = budget.limit == .atMost ? "≤" : "≥"
                let unit = budget.quantity.unit
                let values = budget.values(in: result)
                table.rows.append([
                    budget.title,
                    "\(sign) \(Format.number(budget.must)) \(unit)",
                    "\(sign) \(Format.number(budget.aim)) \(unit)",
                    Format.spread(values),
                    Spread(values).map { budget.verdict(on: $0.median) } ?? "–",
                ])
            }
        }
        return "## Budgets\n\n" + (table.rows.isEmpty ? "None of the benchmarks run has one." : table.text)
    }

    func section(_ result: BenchmarkResult) -> String {
        ["### \(result.benchmark.title)", result.benchmark.method].joined(separator: "\n\n") + "\n\n"
            + body(result).joined(separator: "\n\n")
    }

    private func body(_ result: BenchmarkResult) -> [String] {
        guard !result.contenders.isEmpty else { return ["No contender."] }
        switch result.benchmark.layout {
        case .duel: return duel(result)
        case .curve: return [curve(result)]
        case .growth(let growth): return self.growth(growth, in: result)
        }
    }

    private func duel(_ result: BenchmarkResult) -> [String] {
        var parts = [times(result)]
        if result.contenders.count > 1 {
            parts.append(ratios(result, "Wall time of the row by that of the column", of: \.wallSeconds))
            parts.append(ratios(result, "CPU of the row by that of the column", of: \.cpuSeconds))
        }
        return parts + (metrics(result).map { [$0] } ?? [])
    }

    private func curve(_ result: BenchmarkResult) -> String {
        var names: [String] = []
        for name in result.contenders.flatMap(\.metricNames) where !names.contains(name) { names.append(name) }
        var table = MarkdownTable(header: ["Contender"] + names)
        for contender in result.contenders {
            table.rows.append([contender.name] + names.map { Format.spread(contender.metric($0)) })
        }
        return table.text
    }

    private func times(_ result: BenchmarkResult) -> String {
        var table = MarkdownTable(header: [
            "\(Format.count(result.operations)) operations", "wall ms", "CPU ms", "wall µs each", "CPU µs each",
            "operations/s", "peak growth MB", "stolen ms",
        ])
        let operations = Double(result.operations)
        for contender in result.contenders {
            let wall = Spread(contender.wallSeconds)?.median ?? 0
            let cpu = Spread(contender.cpuSeconds)?.median ?? 0
            table.rows.append([
                contender.name,
                Format.spread(contender.wallSeconds.map { $0 * 1_000 }),
                Format.spread(contender.cpuSeconds.map { $0 * 1_000 }),
                Format.number(wall * 1_000_000 / operations),
                Format.number(cpu * 1_000_000 / operations),
                wall > 0 ? Format.number(operations / wall) : "–",
                Format.spread(contender.peakGrowthBytes.map { $0 / 1_000_000 }),
                Format.spread(contender.stolenSeconds.map { $0 * 1_000 }),
            ])
        }
        return table.text
    }

    private func ratios(
        _ result: BenchmarkResult, _ title: String, of quantity: (ContenderResult) -> [Double]
    ) -> String {
        var table = MarkdownTable(header: [title] + result.contenders.map(\.name))
        for row in result.contenders {
            let cells = result.contenders.map { column in
                row.name == column.name
                    ? "1" : Format.spread(BenchmarkResult.ratios(quantity(row), to: quantity(column)))
            }
            table.rows.append([row.name] + cells)
        }
        return table.text
    }

    private func metrics(_ result: BenchmarkResult) -> String? {
        var table = MarkdownTable(header: ["Contender", "value", "what"])
        for contender in result.contenders {
            for name in contender.metricNames {
                table.rows.append([contender.name, Format.spread(contender.metric(name)), name])
            }
        }
        return table.rows.isEmpty ? nil : table.text
    }
}
