extension Report {
    /// What has been measured in logs of several lengths; nil if nothing has.
    var chart: GrowthChart? {
        let lines = results.flatMap { result in
            guard case .growth(let growth) = result.benchmark.layout else { return [GrowthChart.Line]() }
            return growth.tasks.map { line(of: $0, growth, in: result) }
        }.filter { !$0.points.isEmpty }
        return lines.isEmpty ? nil : GrowthChart(lines: lines)
    }

    private func line(of task: Growth.Task, _ growth: Growth, in result: BenchmarkResult) -> GrowthChart.Line {
        let points = growth.sizes.compactMap { events in
            Spread(growth.milliseconds(of: task, events: events, in: result, \.wallSeconds))
                .map { GrowthChart.Point(events: events, milliseconds: $0) }
        }
        return GrowthChart.Line(name: task.name, points: points)
    }

    func growth(_ growth: Growth, in result: BenchmarkResult) -> [String] {
        func table(_ title: String, _ seconds: (ContenderResult) -> [Double]) -> String {
            var table = MarkdownTable(header: [title] + growth.sizes.map { "\(Format.count($0)) events" })
            for task in growth.tasks {
                table.rows.append(
                    [task.name]
                        + growth.sizes.map { events in
                            Format.spread(growth.milliseconds(of: task, events: events, in: result, seconds))
                        })
            }
            return table.text
        }
        let picture = chartName.map { ["![\(GrowthChart.title)](\($0))"] } ?? []
        return picture + [table("wall ms", \.wallSeconds), table("CPU ms", \.cpuSeconds)]
    }
}
