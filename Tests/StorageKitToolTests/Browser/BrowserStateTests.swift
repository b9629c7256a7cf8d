import TestSupport
import Testing

@testable import StorageKitTool
@testable import StorageLog

/// Whatever is pressed and however the store answers, the browser keeps what it promises.
@Suite struct BrowserStateTests {
    private static let sizes = [
        FrameSize(rows: 24, columns: 80), FrameSize(rows: 40, columns: 120), FrameSize(rows: 50, columns: 200),
        FrameSize(rows: 8, columns: 40), FrameSize(rows: 5, columns: 39), FrameSize(rows: 1, columns: 1),
        FrameSize(rows: 0, columns: 0),
    ]

    @Test("Random keys, sizes and answers", arguments: testSeeds(6))
    func randomRuns(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        let count = [0, 1, 5, 300, 20_000].randomElement(using: &random) ?? 5
        let widest = Int.random(in: 1...60, using: &random)
        let log = FakeLog(count: Int64(count)) { Int($0 % Int64(widest)) + 1 }
        var browser = Browser(store: "a.sqlite", name: "a.sqlite", size: Self.sizes[0])
        var pending: [BrowserEvent] = []
        func perform(_ effects: [BrowserEffect]) {
            for case .read(let request) in effects {
                let piece = Int.random(in: 1...50, using: &random)
                // Some reads fail, others are still on their way when they aren't wanted any more.
                if Int.random(in: 0..<40, using: &random) == 0 {
                    pending.append(
                        .answer(request.number, .failed(CommandError(.corrupt, "It is broken.", next: "No."))))
                } else {
                    pending += log.answers(to: request, piece: piece).map { .answer(request.number, $0) }
                }
            }
        }
        perform(browser.begin())
        for step in 0..<250 {
            if !pending.isEmpty, Int.random(in: 0..<3, using: &random) > 0 {
                perform(browser.handle(pending.removeFirst()))
            } else {
                perform(browser.handle(Self.event(&random)))
            }
            expectSound(browser, "step \(step)")
        }
        while !pending.isEmpty { perform(browser.handle(pending.removeFirst())) }
        #expect(browser.reading == nil, "nothing is awaited that doesn't come")
    }

    private static func event(_ random: inout SplitMix64) -> BrowserEvent {
        switch Int.random(in: 0..<30, using: &random) {
        case 0: return .resized(sizes.randomElement(using: &random) ?? sizes[0])
        case 1: return .head(.init(position: 1, commit: .random(in: 0...30_000, using: &random)))
        case 2: return .lost(CommandError(.unavailable, "The store was replaced."))
        case 3...12:
            let keys: [Key] = [
                .up, .down, .left, .right, .pageUp, .pageDown, .home, .end, .tab, .backTab, .enter, .escape, .backspace,
                .delete, .control("d"), .control("u"), .control("w"), .control("c"), .control("z"),
            ]
            return .key(keys.randomElement(using: &random) ?? .up)
        default:
            let letters = Array("jkgGbhlqnNmdtTauURfrcso?/:& 1tyé日\u{301}'\"\\-.@#")
            return .key(.character(letters.randomElement(using: &random) ?? "j"))
        }
    }

    private func expectSound(_ browser: Browser, _ step: String) {
        let window = browser.top.window
        #expect(window.isEmpty ? window.selection == 0 : window.lines.indices.contains(window.selection), "\(step)")
        #expect(window.lines.count <= LineWindow.limit + 600, "\(step)")
        #expect(browser.screens.count <= 51)
        if case .timeline = browser.screens[0].location {} else { Issue.record("\(step): the first isn't a timeline") }
        let frame = BrowserDrawing.frame(of: browser)
        #expect(frame.rows.count == max(browser.size.rows, 0), "\(step)")
        #expect(frame.rows.allSatisfy { $0.count == browser.size.columns }, "\(step)")
        let isFit = frame.rows.allSatisfy { row in
            row.allSatisfy { $0.text.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x202e } }
        }
        #expect(isFit, "\(step): a control character is shown")
        let text = frame.text
        #expect(text.allSatisfy { DisplayWidth.of($0) <= browser.size.columns }, "\(step)")
        guard browser.size.isEnough, !window.isEmpty, browser.notice == nil else { return }
        #expect(text.contains { $0.hasPrefix(">") }, "\(step): the selected line isn't seen")
    }

    @Test("Every line of a long list is reached in both directions")
    func everyLine() {
        let log = FakeLog(count: 10_000) { _ in 1 }
        var browser = Browser(store: nil, name: "a", size: FrameSize(rows: 24, columns: 80))
        func settle(_ effects: [BrowserEffect]) {
            var effects = effects
            while case .read(let request)? = effects.first(where: { if case .read = $0 { true } else { false } }) {
                effects = log.answers(to: request, piece: 1_000).flatMap { browser.handle(.answer(request.number, $0)) }
            }
        }
        settle(browser.begin())
        var missed: [Int64] = []
        func expect(_ number: Int64) {
            if browser.top.window.selected?.cursor != number...number { missed.append(number) }
        }
        for number in 0..<Int64(10_000) {
            expect(number)
            settle(browser.handle(.key(.down)))
        }
        for number in (0..<Int64(9_999)).reversed() {
            settle(browser.handle(.key(.up)))
            expect(number)
        }
        #expect(missed.isEmpty)
        settle(browser.handle(.key(.character("G"))))
        #expect(browser.top.window.selected?.cursor == 9_999...9_999)
        settle(browser.handle(.key(.character("g"))))
        #expect(browser.top.window.selected?.cursor == 0...0)
        for character in "/item 7321 " { settle(browser.handle(.key(.character(character)))) }
        settle(browser.handle(.key(.enter)))
        #expect(browser.top.window.selected?.cursor == 7_321...7_321)
    }

    @Test("Plans are carried out by a confirmation only")
    func confirmation() {
        var browser = Browser(store: nil, name: "a", size: FrameSize(rows: 24, columns: 80))
        _ = browser.begin()
        var applied = 0
        func press(_ keys: String) {
            for key in keys {
                for case .read(let request) in browser.handle(.key(key == "\n" ? .enter : .character(key))) {
                    if case .apply = request.content { applied += 1 }
                }
            }
        }
        // There is no plan yet.
        press("u\n\ny")
        #expect(applied == 0)
        #expect(browser.prompt == nil)
    }
}
