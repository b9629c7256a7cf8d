@testable import StorageKitTool
@testable import StorageLog

/// A list that answers pages as a source does, without a store.
struct FakeLog {
    let count: Int64
    /// How many lines an item has, by its number.
    let lines: @Sendable (Int64) -> Int

    func item(_ number: Int64) -> ScreenItem {
        ScreenItem(
            at: number...number,
            (0..<max(lines(number), 1)).map { line in
                ScreenLine(
                    StyledLine("item \(number) line \(line) 日本語 e\u{301} 👩‍👩‍👧 \u{1b}[31m\u{202e}"),
                    opens: .commit(number % 7 + 1), subject: LineSubject(commit: number + 1, actor: "anna"))
            })
    }

    /// The answers to a request, in the pieces that a source could pass on.
    func answers(to request: ReadRequest, piece: Int) -> [ReadAnswer] {
        switch request.content {
        case .page(let page, let wanted):
            var items: [ScreenItem] = []
            var lines = 0
            for number in page.numbers(of: count) {
                guard lines < wanted else { break }
                items.append(item(number))
                lines += items[items.count - 1].lines.count
            }
            var answers: [ReadAnswer] = []
            while !items.isEmpty {
                answers.append(.items(Array(items.prefix(piece))))
                items.removeFirst(min(piece, items.count))
            }
            return answers + [.finished(hasMore: lines >= wanted, head: .init(position: count, commit: count))]
        case .search(let search, let cursor, let forward):
            let page: LinePage = cursor.map { forward ? .after($0) : .before($0) } ?? (forward ? .first : .last)
            return [.found(page.numbers(of: count).first { item($0).lines.contains(where: search.matches) })]
        case .apply: return [.applied("done")]
        }
    }
}
